// Which view is shown: the one that the address names.
import { ask, el, shown, token } from './parts.js';
import { mailView } from './mail.js';
import { findView } from './find.js';
import { methodView } from './method.js';
import { overviewView } from './overview.js';

const views = { mail: mailView, find: findView, method: methodView, overview: overviewView };
const made = {};
const place = document.getElementById('view');
let current;

// The address that the server prints ends in #token=…; it is kept for this tab, and not shown.
function takeToken() {
  const found = /^#token=(\S+)$/.exec(location.hash);
  if (!found) return;
  token(decodeURIComponent(found[1]));
  history.replaceState(null, '', '#mail');
}

function show() {
  takeToken();
  const name = location.hash.slice(1) in views ? location.hash.slice(1) : 'mail';
  if (current) made[current].leave?.();
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === '#' + name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  made[name] ||= views[name]();
  place.replaceChildren(made[name].element);
  made[name].enter?.();
  if (current) place.focus();
  current = name;
}

function readTokenForm() {
  const form = document.querySelector('#token form');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    token(form.token.value.trim());
    form.token.value = '';
    document.getElementById('token').open = false;
  });
}

async function about() {
  const line = document.getElementById('about');
  try {
    const { version, demo } = await ask('GET', '/v1/overview');
    line.append(' twinsift ', shown(version), '.', demo ? el('strong', {}, ' A demo: what is learnt is dropped at the end.') : '');
  } catch { /* the views say it */ }
}

window.addEventListener('hashchange', show);
readTokenForm();
show();
about();
