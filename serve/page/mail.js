// Try a message: what it is called and why, and what the model is told about it.
import { ask, beside, el, fill, percent, shown, takesFiles } from './parts.js';

const MAIL = 'message/rfc822';

const examples = {
  'A prize': `From: Award Office <award@lucky-draw.example>
Subject: You have been selected!!
Message-ID: <p1@lucky-draw.example>

Dear winner,

your address was drawn in our international lottery. You have won 920,000 EUR.
To claim the prize, reply today with your full name, bank and telephone number.

Click here: http://claim.lucky-draw.example/now
`,
  'The rowing club': `From: Rowing Club <secretary@rowing.example>
Subject: Sunday: one boat, high water at eleven
Message-ID: <r1@rowing.example>

Hello all,

we have enough people for one boat on Sunday. High water is at eleven, so
please be at the slipway at half past nine. The red boat is still dry.

Maggie
`,
  'A parcel': `From: "Parcel Service" <notice@parcel-desk.example>
Subject: Your parcel could not be delivered
Message-ID: <d1@parcel-desk.example>

Your parcel is waiting. Please pay the outstanding customs fee of 1.99 within
24 hours, or it will be returned: http://pay.parcel-desk.example/now
`,
};

const call = { spam: 'This is spam', ham: 'This is good mail' };

function headline(verdict) {
  const kind = verdict.label === 'spam' ? 'spam' : verdict.label === 'ham' ? 'ham' : 'unsure';
  const text = verdict.label == null ? 'Not sure' : call[verdict.label] || ['This is ', shown(verdict.label)];
  const score = el('div', { class: 'scale ' + kind, role: 'img', 'aria-label': 'probability ' + percent(verdict.score) }, el('span'));
  score.firstChild.style.width = 100 * verdict.score + '%';
  return el('div', {}, el('p', { class: 'verdict ' + kind }, text), score,
    el('p', {}, 'Probability of ', verdict.best ? shown(verdict.best) : 'spam', ' ' + percent(verdict.score) + '. ' +
      reasons[verdict.reason] + (verdict.label == null ? ' ' + verdict.because : '')),
    verdict.known < 0.5 ? el('p', {}, `Little of this message is known (${percent(verdict.known)} of its words).`) : '');
}

const reasons = {
  nothing: 'Nothing has been learnt yet.',
  content: 'Its words counted most.',
  sender: 'Its sender counted most.',
  lookalike: 'A message that it looks like counted most.',
};

const signed = (value) => (value >= 0 ? '+' : '−') + Math.abs(value).toFixed(2);
const times = (count) => (count === 0 ? 'never' : count === 1 ? 'once' : count + ' times');

function sender(evidence) {
  const s = evidence.sender_counts, label = evidence.label;
  if (s.trusted) return 'The sender is trusted.';
  const known = s.address + s.address_others ? `The sender's address was learnt ${times(s.address)} as ${label} and ${times(s.address_others)} otherwise.`
    : 'The sender was not learnt before.';
  return known + (s.domain + s.domain_others ? ` Its domain: ${times(s.domain)} as ${label}, ${times(s.domain_others)} otherwise.` : '');
}

function lookalike(evidence) {
  const parts = ['nearest', 'nearest_other'].map((name) => evidence[name]).filter(Boolean);
  if (!parts.length) return 'It looks like nothing that was learnt.';
  return parts.map((near) => `It is ${percent(near.similarity)} like message ${near.number}, learnt as ${near.label}` +
    (near.copies > 1 ? `, of which there are ${near.copies} copies.` : '.')).join(' ');
}

function bar(value, most) {
  const half = Math.min(50, (50 * Math.abs(value)) / most);
  const part = el('span', { class: value > 0 ? 'for' : 'against' });
  part.style.left = (value > 0 ? 50 : 50 - half) + '%';
  part.style.width = half + '%';
  return el('div', { class: 'bar', role: 'img', 'aria-label': signed(value) }, part);
}

function evidenceOf(evidence) {
  const most = Math.max(4, ...['content', 'sender', 'lookalike'].map((name) => Math.abs(evidence[name])));
  const rows = [['content', 'Content', `The words speak ${evidence.content > 0 ? 'for' : 'against'} ${evidence.label}.`],
    ['sender', 'Sender', sender(evidence)], ['lookalike', 'Lookalikes', lookalike(evidence)]];
  return el('section', { class: 'card' }, el('h3', {}, 'For and against ', shown(evidence.label)),
    rows.map(([name, title, text]) => el('div', { class: 'evidence' },
      el('span', {}, title + ' ' + signed(evidence[name])),
      bar(evidence[name], most), el('span', { class: 'words faint' }, shown(text)))),
    el('p', { class: 'faint' }, `Together ${signed(evidence.score)}; called ${evidence.label} above ${signed(evidence.above)}, and certainly not below ${signed(evidence.below)}. Log odds: +1 means 2.7 times as likely.`));
}

function wordsOf(words, label) {
  if (!words.length) return null;
  const most = Math.max(...words.map((word) => Math.abs(word.weight)));
  return el('section', { class: 'card' }, el('h3', {}, 'Strongest words'), el('div', { class: 'wide' },
    el('table', {}, el('thead', {}, el('tr', {}, ['Word', 'Where', 'For ' + label].map((name) => el('th', { scope: 'col' }, shown(name))))),
      el('tbody', {}, words.map((word) => el('tr', {}, el('td', {}, shown(word.word)), el('td', {}, shown(word.kind)),
        el('td', { class: 'evidence-cell' }, el('div', { class: 'evidence one' }, bar(word.weight, most)))))))));
}

function nearestOf(verdict) {
  const near = verdict.nearest;
  if (!near) return null;
  const names = [`Message ${near.number}, learnt as ${near.label}`, 'This message'];
  return el('section', { class: 'card' },
    el('h3', {}, `The nearest known message: ${percent(near.similarity)} alike`),
    verdict.differences ? beside(verdict.differences, names)
      : el('p', {}, near.text == null ? 'The model keeps no texts.' : 'It is too long to be shown.'));
}

export function mailView() {
  const text = el('textarea', { id: 'message', spellcheck: 'false', rows: '12' });
  const result = el('div', { 'aria-live': 'polite', id: 'verdict' });
  const model = el('input', { id: 'model', placeholder: 'default', size: '12' });
  const modelRow = el('label', { hidden: true }, 'Model ', model);
  const file = el('input', { type: 'file', accept: '.eml,message/rfc822,text/plain' });
  const box = el('div', { class: 'drop' }, el('label', { for: 'message' }, 'A message ', el('small', {}, 'paste its source or any text, or drop an .eml file here')), text);
  let raw = null; // the bytes of a file that was dropped; null: the text

  const body = () => raw || text.value;
  const parameters = (more) => new URLSearchParams({ ...(model.value ? { model: model.value } : {}), ...more });

  // What was pressed is gone with the old verdict: who has no mouse goes on from what it did.
  const act = async (work) => {
    await fill(result, work);
    (result.querySelector('[role=status] button') ?? result.querySelector('[role=status]'))?.focus();
  };

  const learning = (verdict, note) => {
    const label = el('input', { placeholder: 'another label', 'aria-label': 'Another label', size: '14' });
    const teach = (name) => act(() => change(name, verdict));
    return el('section', { class: 'card' }, el('h3', {}, 'What is it?'),
      el('div', { class: 'row' },
        el('button', { onclick: () => teach('spam') }, 'Spam'), el('button', { onclick: () => teach('ham') }, 'Not spam'),
        label, el('button', { onclick: () => label.value && teach(label.value) }, 'Learn under this label')), note);
  };

  async function judge(note) {
    if (!body()) return el('p', {}, 'There is no message yet.');
    const verdict = await ask('POST', '/v1/mail/check?' + parameters({ explain: 15 }), body(), MAIL);
    const first = verdict.evidence[0];
    return [el('section', { class: 'card' }, verdict.subject || verdict.from ? el('p', {}, el('strong', {}, shown(verdict.subject || '(no subject)')), ' from ',
      shown(verdict.from_name), ' ', shown(verdict.from || 'nobody')) : null, headline(verdict)),
    learning(verdict, note), verdict.evidence.map(evidenceOf), first ? wordsOf(verdict.words, first.label) : null, nearestOf(verdict)];
  }

  // What was judged otherwise is corrected, which turns its near-copies, too.
  async function change(label, verdict) {
    const how = verdict.label != null && verdict.label !== label ? 'correct' : 'learn';
    const taught = body(), of = parameters();
    const { effect } = await ask('POST', `/v1/mail/${how}?` + parameters({ label }), taught, MAIL);
    const said = { learnt: 'Learnt as ', known: 'It was known already as ', corrected: 'Corrected to ' }[effect];
    const undo = el('button', { onclick: () => act(() => restore(taught, of, verdict.learnt_as)) }, 'Undo');
    return judge(el('p', { role: 'status', tabindex: '-1' }, said, shown(label), '. ', effect === 'known' ? null : undo));
  }

  // What was learnt before is that again; what was not is forgotten.
  async function restore(taught, of, before) {
    if (before != null) {
      of.set('label', before);
      await ask('POST', '/v1/mail/correct?' + of, taught, MAIL);
      return judge(el('p', { role: 'status', tabindex: '-1' }, 'Learnt as ', shown(before), ' again.'));
    }
    const { effect } = await ask('POST', '/v1/mail/forget?' + of, taught, MAIL);
    return judge(el('p', { role: 'status', tabindex: '-1' }, effect === 'forgotten'
      ? 'Forgotten: its sender and its text no longer count. What the words have taught stays, until other mail changes it.'
      : 'It was not known.'));
  }

  const go = () => fill(result, () => judge(null));
  const take = async ([chosen]) => {
    raw = chosen;
    text.value = new TextDecoder('utf-8').decode(await chosen.arrayBuffer());
    go();
  };
  takesFiles(box, take);
  file.addEventListener('change', () => file.files.length && take(file.files));
  text.addEventListener('input', () => (raw = null));
  text.addEventListener('keydown', (event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && go());
  const choose = el('select', { 'aria-label': 'An example' }, el('option', { value: '' }, 'An example …'),
    Object.keys(examples).map((name) => el('option', {}, name)));
  choose.addEventListener('change', () => {
    if (!choose.value) return;
    raw = null;
    text.value = examples[choose.value];
    go();
  });

  return {
    element: el('div', {}, el('h2', {}, 'Try a message'),
      el('p', {}, 'What would the filter call it, and why? Then tell it what it is: it learns at once.'),
      box, el('p', { class: 'row' }, el('button', { class: 'first', onclick: go }, 'Check'), choose,
        el('label', {}, el('span', { class: 'faint' }, 'or a file '), file), modelRow), result),
    async enter() {
      const { many_models: many } = await ask('GET', '/v1/overview').catch(() => ({}));
      modelRow.hidden = !many;
    },
  };
}
