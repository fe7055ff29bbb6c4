// Find near-duplicates: of a text in an index, and among the documents of a folder.
import { ask, beside, el, fill, percent, shown, takesFiles } from './parts.js';

const at = (index, id) => `/v1/indexes/${encodeURIComponent(index)}/documents/${encodeURIComponent(id)}`;

// ---- in an index

async function textOf(index, id) {
  return (await ask('GET', at(index, id))).text;
}

async function compare(place, index, own, id) {
  const text = await textOf(index, id);
  if (text == null) return el('p', {}, 'This index keeps no texts; create one with --keep text to see them.');
  const { differences, jaccard } = await ask('POST', '/v1/compare', JSON.stringify({ a: own, b: text, normalised: true }), 'application/json');
  return el('section', { class: 'card' }, el('h3', {}, 'Side by side: ', percent(jaccard), ' alike'),
    differences ? beside(differences, ['Your text', String(id)]) : el('p', {}, 'The texts are too long to be shown.'));
}

// All documents that chains of near-duplicates connect with these, up to a limit.
async function groupOf(index, matches) {
  const seen = new Map(matches.map((match) => [String(match.id), match.id])), queue = [...seen.keys()];
  for (let i = 0; i < queue.length && i < 30; i++) {
    const text = await textOf(index, queue[i]).catch(() => null);
    if (text == null) continue;
    const found = await ask('POST', `/v1/indexes/${encodeURIComponent(index)}/query`, JSON.stringify({ text, top: 50 }), 'application/json');
    for (const match of found.matches)
      if (!seen.has(String(match.id))) {
        seen.set(String(match.id), match.id);
        queue.push(String(match.id));
      }
  }
  return queue;
}

function table(matches, choose) {
  const rows = matches.map((match) => {
    const row = el('tr', {}, el('td', {}, el('button', { onclick: () => {
      for (const other of rows) other.classList.toggle('chosen', other === row);
      choose(match.id);
    } }, shown(match.id))), el('td', { class: 'number' }, percent(match.similarity)));
    return row;
  });
  return el('div', { class: 'wide' }, el('table', {}, el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Document'),
    el('th', { scope: 'col', class: 'number' }, 'Similarity'))), el('tbody', {}, rows)));
}

function inIndex() {
  const text = el('textarea', { id: 'query', rows: '8' });
  const index = el('select', { id: 'index' });
  const threshold = el('input', { type: 'number', min: '0.05', max: '1', step: '0.05', placeholder: 'default' });
  const pick = el('input', { list: 'documents', placeholder: 'id of a document', size: '24' });
  const list = el('datalist', { id: 'documents' });
  const result = el('div', { 'aria-live': 'polite', id: 'matches' });
  const side = el('div', { 'aria-live': 'polite' });

  async function query() {
    side.replaceChildren();
    if (!text.value) return el('p', {}, 'There is no text yet.');
    const own = text.value;
    const wish = { text: own, top: 100, ...(threshold.value ? { threshold: Number(threshold.value) } : {}) };
    const found = await ask('POST', `/v1/indexes/${encodeURIComponent(index.value)}/query`, JSON.stringify(wish), 'application/json');
    if (!found.matches.length) return el('p', {}, 'No document is near to it.');
    const group = el('p', { class: 'faint' });
    fill(group, async () => {
      const ids = await groupOf(index.value, found.matches);
      return ['Its group, with what is near to these in turn: ', ...ids.flatMap((id, i) => [i ? ', ' : '', shown(id)])];
    });
    return [el('h3', {}, counted(found.matches.length, 'near-duplicate')),
      found.incomplete ? el('p', { class: 'faint' }, 'There may be more: the server compares a limited number.') : null,
      table(found.matches, (id) => fill(side, () => compare(side, index.value, own, id))), group];
  }

  const go = () => fill(result, query);
  text.addEventListener('keydown', (event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && go());
  pick.addEventListener('change', () => fill(result, async () => {
    text.value = (await textOf(index.value, pick.value)) ?? '';
    return text.value ? query() : el('p', {}, 'This index keeps no texts.');
  }));
  async function listDocuments() {
    list.replaceChildren();
    if (!index.value) return;
    const { documents } = await ask('GET', `/v1/indexes/${encodeURIComponent(index.value)}/documents`);
    list.append(...documents.map((one) => el('option', { value: one.id })));
  }
  index.addEventListener('change', () => listDocuments().catch(() => {}));
  async function start() {
    const { indexes } = await ask('GET', '/v1/indexes');
    const kept = index.value;
    index.replaceChildren(...indexes.map((name) => el('option', {}, name)));
    if (indexes.includes(kept)) index.value = kept;
    if (!indexes.length) result.replaceChildren(el('p', {}, 'This server has no index; start it with --index FILE.'));
    await listDocuments();
  }
  return { start, element: el('section', {}, el('label', { for: 'query' }, 'A text ', el('small', {}, 'or pick a document below')), text,
    el('p', { class: 'row' }, el('button', { class: 'first', onclick: go }, 'Find'), el('label', {}, 'Index ', index),
      el('label', {}, 'Document ', pick, list), el('label', {}, 'Threshold ', threshold)), result, side) };
}

// ---- in a folder

// The files that the command would read, in its order, by the names that it would give them: of a folder those below it.
function named(files) {
  const all = files.map((file) => ({ file, path: file.path || file.webkitRelativePath || file.name }));
  const top = all[0]?.path.split('/')[0] + '/', isFolder = all.every(({ path }) => path.startsWith(top));
  const below = all.map(({ file, path }) => ({ file, name: isFolder ? path.slice(top.length) : path }));
  const seen = below.filter(({ name }) => !name.split('/').some((part) => part.startsWith('.')));
  return isFolder ? seen.sort((p, q) => (p.name < q.name ? -1 : 1)) : seen;
}

// Hold many documents, of which only the command knows how they are read.
const elsewhere = /\.(csv|tsv|json|fa|fasta|gz|zst)$/i;

// A line of JSON has an id and a text, as for the command; of other files each is a document. Of several with one id the
// first counts. What is left out is named.
async function documentsOf(files) {
  const documents = [], left = [], all = named(files), seen = new Set();
  const take = (id, text, name) => {
    const good = typeof text === 'string' && ['string', 'number'].includes(typeof id) && !seen.has(String(id));
    if (good) documents.push({ id, text });
    else left.push(name);
    seen.add(String(id));
  };
  for (const { file, name } of all) {
    const text = elsewhere.test(name) ? '\0' : await file.text();
    if (text.slice(0, 8000).includes('\0')) {
      left.push(name);
      continue;
    }
    if (!/\.(jsonl|ndjson)$/i.test(name)) {
      take(name, text, name);
      continue;
    }
    text.split('\n').forEach((line, i) => {
      if (!line.trim()) return;
      const place = `${name}:${i + 1}`;
      try {
        const { id, text: its } = JSON.parse(line);
        take(id ?? (all.length === 1 ? i + 1 : place), its, place);
      } catch {
        left.push(place);
      }
    });
  }
  return { documents, left };
}

const SHOWN = 1000; // pairs in the table

function sortable(pairs) {
  const columns = [['a', 'First'], ['b', 'Second'], ['similarity', 'Similarity']];
  const body = el('tbody');
  let by = 'similarity', down = true;
  const heads = columns.map(([name, title]) => el('th', { scope: 'col', class: name === 'similarity' ? 'number' : null },
    el('button', { onclick: () => {
      down = by === name ? !down : name === 'similarity';
      by = name;
      draw();
    } }, title)));
  function draw() {
    const sign = down ? -1 : 1;
    pairs.sort((p, q) => sign * (by === 'similarity' ? p[by] - q[by] : String(p[by]).localeCompare(String(q[by]), 'en', { numeric: true })));
    body.replaceChildren(...pairs.slice(0, SHOWN).map((pair) => el('tr', {}, el('td', {}, shown(pair.a)), el('td', {}, shown(pair.b)),
      el('td', { class: 'number' }, pair.similarity.toFixed(4)))));
    columns.forEach(([name], i) => heads[i].setAttribute('aria-sort', name !== by ? 'none' : down ? 'descending' : 'ascending'));
  }
  draw();
  return el('div', { class: 'wide' }, el('table', {}, el('thead', {}, el('tr', {}, heads)), body));
}

// What was chosen, as one would write it in a shell: files, or the folder of all.
function operand(files) {
  const paths = files.map((file) => file.path || file.webkitRelativePath || file.name), top = paths[0].split('/')[0];
  const names = paths.every((path) => path.startsWith(top + '/')) ? [top] : paths.length <= 20 ? paths : null;
  return names == null ? 'FILE…' : names.map((name) => /^[\w.,+@][\w.,+@/-]*$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`).join(' ');
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function inFolder() {
  const files = el('input', { type: 'file', multiple: true, id: 'files' });
  const folder = el('input', { type: 'file', webkitdirectory: true, id: 'folder' });
  const threshold = el('input', { type: 'number', min: '0.05', max: '1', step: '0.05', value: '0.8', size: '6' });
  const result = el('div', { 'aria-live': 'polite', id: 'pairs' });
  const box = el('div', { class: 'drop', id: 'find-folder' }, el('h3', {}, 'Pairs and groups of a collection'),
    el('p', {}, 'Drop files, a folder or a .jsonl file here. They are sent to the server, compared, and not kept.'),
    el('p', { class: 'row' }, el('label', {}, 'Files ', files), el('label', {}, 'A folder ', folder), el('label', {}, 'Threshold ', threshold)));
  let last = [];

  async function pairs() {
    const { documents, left } = await documentsOf(last);
    if (!documents.length) return el('p', {}, 'There are no texts in it.');
    const lines = documents.map((one) => JSON.stringify(one)).join('\n');
    const answers = await ask('POST', '/v1/pairs?threshold=' + encodeURIComponent(threshold.value), lines, 'application/x-ndjson');
    const found = answers.at(-1);
    if (found.error) throw new Error(found.error.message);
    left.push(...answers.slice(0, -1).map(({ error }) => String(documents[error.line - 1].id)));
    return [el('h3', {}, `${counted(found.pairs.length, 'pair')} in ${counted(found.groups.length, 'group')}, of ${counted(found.documents, 'document')}`),
      found.incomplete || found.pairs.length > SHOWN ? el('p', {}, found.incomplete ? 'There are more pairs than the server lists. ' : null,
        `The table has ${SHOWN.toLocaleString('en')} at most.`) : null,
      left.length ? el('p', { class: 'faint' }, 'Left out, as not a document or only for the command line: ',
        left.slice(0, 10).flatMap((name, i) => [i ? ', ' : '', shown(name)]), left.length > 10 ? ` and ${left.length - 10} more.` : '.') : null,
      found.pairs.length ? sortable(found.pairs) : null,
      found.groups.length ? el('details', {}, el('summary', {}, 'Groups'), el('ul', {}, found.groups.map((group) =>
        el('li', {}, group.flatMap((id, i) => [i ? ', ' : '', shown(id)]))))) : null,
      el('p', {}, 'The same on the command line:'), el('code', { class: 'command' }, shown(found.command.replace(/FILE$/, () => operand(last))))];
  }

  const go = (chosen) => {
    last = [...chosen];
    fill(result, pairs);
  };
  takesFiles(box, go);
  for (const input of [files, folder]) input.addEventListener('change', () => input.files.length && go(input.files));
  threshold.addEventListener('change', () => last.length && go(last));
  return el('section', {}, box, result);
}

export function findView() {
  const index = inIndex();
  return {
    element: el('div', {}, el('h2', {}, 'Find near-duplicates'),
      el('p', {}, 'What else looks like this? Every similarity is verified: the share of common shingles, not a guess.'),
      index.element, inFolder()),
    enter: () => index.start().catch(() => {}),
  };
}
