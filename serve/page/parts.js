// What the views share: elements, text that comes from strangers, requests, differences side by side, plots.
//
// No text ever becomes markup: elements are made here, and strings become text nodes. Characters that cannot be seen,
// or that change the direction of what follows, are shown by their numbers.

export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

// Controls but line ends and tabs; marks of direction; characters of no width; private and tag characters.
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/u;

export function shown(text) {
  const out = document.createElement('bdi');
  let plain = '';
  for (const c of String(text ?? '')) {
    if (!unseen.test(c)) {
      plain += c;
      continue;
    }
    out.append(plain, el('span', { class: 'control' }, 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')));
    plain = '';
  }
  out.append(plain);
  return out;
}

// ---- requests

export function token(given) {
  if (given) sessionStorage.setItem('token', given);
  return sessionStorage.getItem('token');
}

// Who answers: the server that the page came from. A page without one has a module that does (wasm/main.js).
let send = async (method, path, body, type) => {
  const headers = {};
  if (type) headers['Content-Type'] = type;
  if (token()) headers.Authorization = 'Bearer ' + token();
  try {
    const response = await fetch(path, { method, body, headers, cache: 'no-store' });
    return { status: response.status, text: await response.text() };
  } catch {
    throw new Error('The server does not answer.');
  }
};

export function answeredBy(other) {
  send = other;
}

export async function ask(method, path, body, type) {
  const { status, text } = await send(method, path, body, type);
  const lines = type === 'application/x-ndjson' ? text.trim().split('\n').map((line) => JSON.parse(line)) : [JSON.parse(text)];
  const failed = lines.find((line) => line.error);
  if (status === 401) throw new Error('This needs the token: open the address that the server printed, or enter it below.');
  if (failed && (status >= 400 || lines.length === 1)) throw new Error(sentence(failed.error.message));
  return type === 'application/x-ndjson' ? lines : lines[0];
}

export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.');
}

// Fills `place` by what `work` makes, or by what went wrong. Of several at once the last one counts.
export async function fill(place, work) {
  const turn = (place.turn = (place.turn || 0) + 1);
  place.setAttribute('aria-busy', 'true');
  let made;
  try {
    made = await work();
  } catch (error) {
    made = el('p', { class: 'problem', role: 'alert' }, shown(error.message));
  }
  if (place.turn !== turn) return;
  place.removeAttribute('aria-busy');
  place.replaceChildren(...[made].flat(Infinity).filter((child) => child != null));
}

export function soon(work, milliseconds = 200) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

// ---- files

// Takes what is dropped on an element, or chosen.
export function takesFiles(element, take) {
  element.addEventListener('dragover', (event) => {
    event.preventDefault();
    element.classList.add('over');
  });
  element.addEventListener('dragleave', () => element.classList.remove('over'));
  element.addEventListener('drop', async (event) => {
    event.preventDefault();
    element.classList.remove('over');
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const files = entries.length ? (await Promise.all(entries.map((entry) => filesOf(entry)))).flat() : [...event.dataTransfer.files];
    if (files.length) take(files);
  });
}

async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((good, bad) => entry.file(good, bad));
    file.path = entry.fullPath.slice(1);
    return [file];
  }
  const reader = entry.createReader(), files = [];
  for (;;) {
    const some = await new Promise((good, bad) => reader.readEntries(good, bad));
    if (!some.length) return files;
    for (const one of some) files.push(...(await filesOf(one)));
  }
}

// ---- texts and figures

export function percent(share) {
  return (100 * share).toFixed(share > 0.9995 && share < 1 ? 2 : 1) + ' %';
}

export function beside(differences, names) {
  const sides = [el('div', { tabindex: '0', role: 'group', 'aria-label': names[0] }),
    el('div', { tabindex: '0', role: 'group', 'aria-label': names[1] })];
  for (const part of differences) {
    const same = part.kind === 'equal';
    if (part.a) sides[0].append(same ? shown(part.a) : el('del', {}, shown(part.a)));
    if (part.b) sides[1].append(same ? shown(part.b) : el('ins', {}, shown(part.b)));
  }
  return el('div', { class: 'beside' }, sides.map((side, i) => el('section', {}, el('h4', {}, shown(names[i])), side)));
}

export function range(name, least, most, value, change, note) {
  const out = el('output', {}, String(value));
  const input = el('input', { type: 'range', min: least, max: most, value });
  input.addEventListener('input', () => {
    out.textContent = input.value;
    change();
  });
  return { row: el('label', {}, name + ' ', note ? el('small', {}, note) : null, el('br'), input, ' ', out), input, out };
}

// ---- plots

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const WIDTH = 640, HEIGHT = 340, LEFT = 48, BOTTOM = 40, TOP = 12, RIGHT = 12;

// A frame with axes from 0 to 1 both ways; x() and y() place points in it.
export function frame(title, across, up) {
  const x = (value) => LEFT + value * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM);
  const plot = svg('svg', { class: 'plot', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title });
  for (let i = 0; i <= 10; i += 2) {
    const at = i / 10;
    plot.append(svg('line', { class: 'grid', x1: x(at), x2: x(at), y1: y(0), y2: y(1) }),
      svg('line', { class: 'grid', x1: x(0), x2: x(1), y1: y(at), y2: y(at) }),
      svg('text', { x: x(at), y: HEIGHT - BOTTOM + 17, 'text-anchor': 'middle' }, at.toFixed(1)),
      svg('text', { x: LEFT - 7, y: y(at) + 4, 'text-anchor': 'end' }, at.toFixed(1)));
  }
  plot.append(svg('text', { x: (WIDTH + LEFT) / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, across),
    svg('text', { x: 12, y: HEIGHT / 2 - 12, 'text-anchor': 'middle', transform: `rotate(-90 12 ${HEIGHT / 2 - 12})` }, up));
  return { plot, x, y };
}

// Columns of stacked parts: each of `columns` is a list of counts, one for each of the names.
export function columns(title, counts, names) {
  const width = 640, height = 120, step = width / counts.length;
  const most = Math.max(1, ...counts.map((column) => column.reduce((a, b) => a + b, 0)));
  const plot = svg('svg', { class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title });
  counts.forEach((column, i) => {
    let top = height - 2;
    column.forEach((count, k) => {
      const tall = (count / most) * (height - 18);
      if (count) plot.append(svg('rect', { class: names[k], x: i * step + 1, width: Math.max(1, step - 2), y: top - tall, height: tall }));
      top -= tall;
    });
  });
  plot.append(svg('line', { class: 'axis', x1: 0, x2: width, y1: height - 2, y2: height - 2 }),
    svg('text', { x: 2, y: 12 }, 'at most ' + most));
  return plot;
}
