// Overview: what the server has, what it does, and what went wrong lately. Counts only.
import { ask, columns, el, fill, shown } from './parts.js';

const bytes = (count) => (count > 1e9 ? (count / 1e9).toFixed(2) + ' GB' : count > 1e6 ? (count / 1e6).toFixed(1) + ' MB' : Math.round(count / 1e3) + ' KB');
const ago = (seconds) => (seconds < 90 ? seconds + ' s' : seconds < 5400 ? Math.round(seconds / 60) + ' min'
  : seconds < 172800 ? (seconds / 3600).toFixed(1) + ' h' : Math.round(seconds / 86400) + ' days');
const milliseconds = (seconds) => (seconds ? 'within ' + (seconds * 1000).toLocaleString('en') + ' ms' : '–');

function figure(title, value, ...notes) {
  return el('section', { class: 'card' }, el('h3', {}, shown(title)), el('p', { class: 'figure' }, shown(value)),
    notes.map((note) => el('p', { class: 'faint' }, note)));
}

function draw(state) {
  const model = state.model;
  return [el('div', { class: 'cards' },
    figure('Requests per second', state.requests_per_second.toFixed(1), `in the last minute; ${state.connections} connections`),
    figure('Latency', milliseconds(state.latency_p50), `half of the requests; 99 of 100 ${milliseconds(state.latency_p99)}`),
    model ? figure('Messages', model.messages.toLocaleString('en'), el('span', {}, model.labels.flatMap((label, i) =>
      [i ? ', ' : '', shown(label.label), ' ' + label.messages])), `${bytes(model.bytes)}, last learnt ${ago(Math.max(0, state.now - model.newest))} ago, loaded ${ago(Math.max(0, state.now - model.loaded))} ago`)
      : figure('Messages', '–', state.mail ? 'nothing was learnt yet' : 'no mail model: --model'),
    state.indexes.map((index) => figure('Documents in ' + index.name, (index.documents ?? 0).toLocaleString('en'),
      `${bytes(index.bytes ?? 0)}, threshold ${index.threshold}, keeps ${index.keep}`)),
    figure('Running for', ago(state.uptime), 'twinsift ' + state.version)),
  el('section', { class: 'card' }, el('h3', {}, 'Requests in the last minute'),
    columns('Requests in each second of the last minute', state.requests.map((count) => [count]), ['bar'])),
  el('section', { class: 'card' }, el('h3', {}, 'Verdicts in the last hour'),
    columns('Verdicts in each minute of the last hour', state.verdicts, state.verdict_labels),
    el('p', {}, state.verdict_labels.map((name) => [el('span', { class: 'key ' + name }), name]))),
  el('section', { class: 'card' }, el('h3', {}, 'Last errors'), state.errors.length
    ? el('ul', {}, state.errors.map((error) => el('li', {}, new Date(error.time * 1000).toLocaleString(), ': ', shown(error.message))))
    : el('p', {}, 'None since the start.'))];
}

export function overviewView() {
  const place = el('div', { id: 'state' });
  let timer;
  const refresh = () => fill(place, async () => draw(await ask('GET', '/v1/overview')));
  return {
    element: el('div', {}, el('h2', {}, 'Overview'), place),
    enter() {
      refresh();
      timer = setInterval(refresh, 3000);
    },
    leave: () => clearInterval(timer),
  };
}
