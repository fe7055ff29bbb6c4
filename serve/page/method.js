// See how it works: each step of the method on texts of one's own. All figures come from the library.
import { ask, el, fill, frame, percent, range, shown, soon, svg } from './parts.js';

const post = (path, wish) => ask('POST', path, JSON.stringify(wish), 'application/json');

// ---- shingles, MinHash, bands

function chips(side, name) {
  return el('div', {}, el('h4', {}, name), el('div', { class: 'chips', tabindex: '0', role: 'group', 'aria-label': name },
    side.shingles.map((one) => el('span', { class: 'chip' + (one.common ? ' common' : ''), title: 'hash ' + one.hash }, shown(one.text)))));
}

function slots(answer, place) {
  const { rows, bands } = answer, equal = answer.a.signature.map((value, i) => value === answer.b.signature[i]);
  const matching = new Set(answer.matching_bands), note = el('p', { role: 'status', class: 'faint' }, 'Choose a slot to see where its numbers come from.');
  let chosen;
  const slot = (k) => el('button', { class: 'slot' + (equal[k] ? ' equal' : ''), 'aria-pressed': 'false',
    'aria-label': `slot ${k + 1}: ${equal[k] ? 'equal' : 'different'}`, onclick: (event) => {
      chosen?.setAttribute('aria-pressed', 'false');
      chosen = event.currentTarget;
      chosen.setAttribute('aria-pressed', 'true');
      explain(k);
    } }, equal[k] ? '=' : '');
  function explain(k) {
    const winners = [answer.a, answer.b].map((side) => side.winners && side.shingles?.[side.winners[k]]);
    note.replaceChildren(`Slot ${k + 1}: its hash function gave ${answer.a.signature[k]} and ${answer.b.signature[k]} as the smallest numbers`,
      winners[0] && winners[1] ? el('span', {}, ', for the shingles “', shown(winners[0].text), '” and “', shown(winners[1].text), '”.') : '.');
    for (const chip of place.querySelectorAll('.chip')) chip.classList.remove('lit');
    [answer.a, answer.b].forEach((side, i) => {
      const chip = side.winners && place.querySelectorAll('.chips')[i]?.children[side.winners[k]];
      chip?.classList.add('lit');
    });
  }
  const groups = [];
  for (let band = 0; band < bands; band++)
    groups.push(el('div', { class: 'band' + (matching.has(band) ? ' match' : ''), role: 'group',
      'aria-label': `band ${band + 1}${matching.has(band) ? ', matches' : ''}` }, Array.from({ length: rows }, (_, i) => slot(band * rows + i))));
  return el('div', {}, el('div', { class: 'bands' }, groups), note);
}

function compareView() {
  const a = el('textarea', { class: 'short', id: 'first', rows: '4' }), b = el('textarea', { class: 'short', id: 'second', rows: '4' });
  a.value = 'The old lighthouse will be lit again on Saturday, after thirty years of darkness.';
  b.value = 'The old lighthouse will be lit again on Sunday, after forty years of darkness!';
  const kind = el('select', {}, el('option', { value: 'char' }, 'characters'), el('option', { value: 'word' }, 'words'));
  const result = el('div', { 'aria-live': 'polite', id: 'steps' });

  async function draw() {
    const answer = await post('/v1/compare', { a: a.value, b: b.value, shingle: `${kind.value}:${width.input.value}`, sketch: 'classic',
      slots: bands.input.value * rows.input.value, bands: Number(bands.input.value), rows: Number(rows.input.value), detail: true });
    const union = answer.a_shingles + answer.b_shingles - answer.common;
    return [el('section', { class: 'card' }, el('h3', {}, '1. Texts become sets of shingles'),
      el('p', {}, `Case and blanks are made alike, then every ${width.input.value} neighbouring ${kind.selectedOptions[0].textContent} are a shingle. `,
        `${answer.a_shingles} and ${answer.b_shingles} different ones, ${answer.common} in both (marked).`),
      el('div', { class: 'two' }, chips(answer.a, 'First text'), chips(answer.b, 'Second text')),
      el('p', {}, 'Similarity: ', `${answer.common} of ${union} = `, el('strong', {}, percent(answer.jaccard)))),
    el('section', { class: 'card' }, el('h3', {}, '2. Sets become signatures, 3. signatures are cut into bands'),
      el('p', {}, `Each of ${answer.slots} hash functions keeps its smallest number over all shingles: a slot. Two slots agree as often as the sets are similar: `,
        `${answer.equal_slots} of ${answer.slots} do.`),
      slots(answer, result),
      el('p', {}, `${answer.matching_bands.length} of ${answer.bands} bands agree in all their ${answer.rows} slots: `,
        el('strong', {}, answer.matching_bands.length ? 'the texts become a candidate pair' : 'the texts are never compared'),
        `. Texts this similar do with a probability of ${percent(answer.probability)}.`)),
    el('section', { class: 'card' }, el('h3', {}, '4. Candidates are verified'),
      el('div', { class: 'cards' }, [['Estimate', answer.estimate, 'share of equal slots'], ['Exact', answer.jaccard, 'what twinsift reports'],
        ['Containment', answer.containment, 'of the smaller in the larger']].map(([title, value, note]) =>
        el('div', {}, el('strong', {}, title), el('p', { class: 'figure' }, percent(value)), el('p', { class: 'faint' }, note)))),
      el('p', {}, 'The same on the command line, of the texts in two files:'), el('code', { class: 'command' },
        `twinsift show --method --shingle ${kind.value}:${width.input.value} --sketch classic --hashes ${answer.slots} --bands ${answer.bands} --rows ${answer.rows} FILE FILE`))];
  }

  const go = soon(() => fill(result, draw));
  const width = range('Width of a shingle', 1, 12, 5, go), bands = range('Bands', 1, 40, 20, go), rows = range('Rows per band', 1, 10, 5, go);
  kind.addEventListener('change', () => {
    width.input.value = kind.value === 'word' ? 2 : 5;
    width.out.textContent = width.input.value;
    go();
  });
  for (const text of [a, b]) text.addEventListener('input', go);
  return { go, element: el('section', {}, el('h3', {}, 'Two texts'), el('div', { class: 'two' }, el('label', {}, 'First text', a), el('label', {}, 'Second text', b)),
    el('div', { class: 'row' }, width.row, el('label', {}, 'Shingles of', el('br'), kind), bands.row, rows.row), result) };
}

// ---- the S-curve

function curveView() {
  const result = el('div', { id: 'curve' });
  async function draw() {
    const threshold = threshold_.input.value / 100;
    threshold_.out.textContent = threshold.toFixed(2);
    const plan = await post('/v1/plan', { bands: Number(bands.input.value), rows: Number(rows.input.value), threshold });
    const { plot, x, y } = frame('Probability of becoming a candidate, by similarity', 'similarity of two documents', 'probability');
    const line = (points) => points.map(([s, p]) => `${x(s).toFixed(1)},${y(p).toFixed(1)}`).join(' ');
    const below = plan.curve.filter(([s]) => s <= threshold), above = plan.curve.filter(([s]) => s >= threshold);
    plot.append(svg('polygon', { class: 'positive', points: `${x(0)},${y(0)} ${line(below)} ${x(threshold)},${y(0)}` }),
      svg('polygon', { class: 'negative', points: `${x(threshold)},${y(1)} ${line(above)} ${x(1)},${y(1)}` }),
      svg('polyline', { class: 'curve', points: line(plan.curve) }),
      svg('line', { class: 'threshold', x1: x(threshold), x2: x(threshold), y1: y(0), y2: y(1) }));
    return [plot, el('p', {}, el('span', { class: 'key positive' }), `false positives, compared in vain: area ${plan.areas.false_positives.toFixed(4)}`,
      el('br'), el('span', { class: 'key negative' }), `false negatives, missed: area ${plan.areas.false_negatives.toFixed(4)}`),
    el('p', {}, `${plan.hashes} hashes. A pair at the threshold becomes a candidate with a probability of ${percent(plan.probability)}.`),
    el('code', { class: 'command' }, plan.command)];
  }
  const go = soon(() => fill(result, draw), 60);
  const bands = range('Bands', 1, 100, 25, go), rows = range('Rows per band', 1, 20, 5, go), threshold_ = range('Threshold, in hundredths', 1, 99, 80, go);
  return { go, element: el('section', { class: 'card' }, el('h3', {}, 'Bands and rows: the S-curve'),
    el('p', {}, 'More rows make it harder for a band to agree, more bands give more chances. Together they make a step, as steep as there are hashes.'),
    el('div', { class: 'row' }, bands.row, rows.row, threshold_.row), result) };
}

// ---- Bloom filters

// The rate of false positives, as columns on a scale of tenfold steps from 1 in 10 million on.
function rates(title, values, name, chosen) {
  const step = 320 / values.length;
  const chart = svg('svg', { class: 'plot', viewBox: '0 0 320 130', role: 'img', 'aria-label': title });
  values.forEach((rate, i) => {
    const tall = Math.max(2, (90 * (7 + Math.log10(Math.max(rate, 1e-7)))) / 7);
    const column = svg('rect', { class: name(i) === chosen ? 'spam' : 'bar', x: i * step + 2, width: step - 4, y: 105 - tall, height: tall });
    column.append(svg('title', {}, `${name(i)}: ${(100 * rate).toPrecision(2)} %`));
    chart.append(column, svg('text', { x: (i + 0.5) * step, y: 122, 'text-anchor': 'middle' }, String(name(i))));
  });
  return el('section', {}, el('h4', {}, title), chart, el('p', { class: 'faint' }, 'Rate of false positives; each seventh of the height is ten times as many.'));
}

function bloomView() {
  const add = el('textarea', { class: 'short', id: 'added', rows: '5' }), query = el('input', { id: 'asked', type: 'text' });
  add.value = ('apple apricot avocado banana bilberry blackberry cherry citron cranberry currant date elder fig gooseberry grape guava kiwi '
    + 'lemon lime loquat lychee mango medlar melon mulberry nectarine olive orange papaya peach pear persimmon pineapple plum').replaceAll(' ', '\n');
  query.value = 'damson';
  const result = el('div', { 'aria-live': 'polite', id: 'bloom' });
  async function draw() {
    const words = (text) => text.split('\n').map((word) => word.trim()).filter(Boolean).slice(0, 200);
    const filter = await post('/v1/bloom', { add: words(add.value), ask: words(query.value), cells: 512 * cells.input.value, functions: Number(functions.input.value) });
    const marked = new Set(filter.marked), asked = new Set(filter.asked.flatMap((item) => item.cells));
    const grid = el('div', { class: 'cells', role: 'img', 'aria-label': `${marked.size} of ${filter.cells} bits are set` },
      Array.from({ length: filter.cells }, (_, i) => el('i', { class: [marked.has(i) && 'on', asked.has(i) && 'ask'].filter(Boolean).join(' ') || null })));
    return [filter.asked.map((item) => el('p', {}, el('strong', {}, shown(item.item)), item.found
      ? ': all its bits are set. It may be in the filter.' : ': a bit of it is not set. It is certainly not in the filter.')), grid,
    el('p', {}, `${marked.size} of ${filter.cells} bits are set; outlined are those of the word in question. A word that was never added is reported with a probability of ${(100 * filter.rate).toPrecision(2)} %.`),
    el('div', { class: 'two' }, rates('The same words with other numbers of functions', filter.rates_by_functions, (i) => i + 1, filter.functions),
      rates('… and with more bits', filter.rates_by_cells, (i) => 512 * (i + 1), filter.cells))];
  }
  const go = soon(() => fill(result, draw));
  const cells = range('Bits', 1, 8, 1, go, 'times 512'), functions = range('Functions', 1, 16, 4, go);
  for (const input of [add, query]) input.addEventListener('input', go);
  return { go, element: el('section', { class: 'card' }, el('h3', {}, 'A Bloom filter, bit by bit'),
    el('p', {}, 'Each word sets a few bits. A word whose bits are not all set was never added.'),
    el('div', { class: 'two' }, el('label', {}, 'Words in the filter', add), el('label', {}, 'Is this word in it?', el('br'), query)),
    el('div', { class: 'row' }, cells.row, functions.row), result) };
}

// ---- edit distance

function editView() {
  const a = el('textarea', { class: 'short', id: 'left', rows: '3' }), b = el('textarea', { class: 'short', id: 'right', rows: '3' });
  a.value = 'Mrs Eleanor Whitcombe, 14 Harbour Street, Bay View Terrace, Port Ellis';
  b.value = 'Ms. Elenor Whitcomb, 14 Harbor Street, Bay View Terrace, Port Ellis';
  const result = el('div', { 'aria-live': 'polite', id: 'edit' });
  async function draw() {
    const answer = await post('/v1/edit', { a: a.value, b: b.value });
    const steps = el('p', { class: 'steps' }, answer.steps.map((step) => step.kind === 'equal' ? shown(step.a)
      : [step.a ? el('del', {}, shown(step.a)) : null, step.b ? el('ins', {}, shown(step.b)) : null]));
    const { agree, equal, functions, window: wide } = answer.embedding;
    return [el('p', {}, 'Distance ', el('strong', {}, String(answer.distance)), ' edits; ratio ', el('strong', {}, percent(answer.ratio))), steps,
      agree.length ? [el('p', {}, `To find such texts without comparing all, each becomes ${functions} numbers, each drawn from the letters of one window of ${wide} bytes. ${equal} agree: the more alike the texts, the more.`),
        el('div', { class: 'agree', role: 'img', 'aria-label': `${equal} of ${functions} numbers agree` }, agree.map((same) => el('i', { class: same ? 'on' : null })))].flat()
        : [el('p', { class: 'faint' }, 'Texts this short have no windows to draw numbers from.')]].flat();
  }
  const go = soon(() => fill(result, draw));
  for (const text of [a, b]) text.addEventListener('input', go);
  return { go, element: el('section', { class: 'card' }, el('h3', {}, 'Edit distance and its embedding'),
    el('p', {}, 'For short texts: how many characters must be inserted, deleted or replaced?'),
    el('div', { class: 'two' }, el('label', {}, 'First text', a), el('label', {}, 'Second text', b)), result) };
}

export function methodView() {
  const parts = [compareView(), curveView(), bloomView(), editView()];
  return {
    element: el('div', {}, el('h2', {}, 'See how it works'),
      el('p', {}, 'Change anything: every figure is computed by the code that finds near-duplicates. On the command line, ',
        el('code', {}, 'twinsift show --method'), ' and ', el('code', {}, 'twinsift plan'), ' print the same.'), parts.map((part) => part.element)),
    enter: () => parts.forEach((part) => part.go()),
  };
}
