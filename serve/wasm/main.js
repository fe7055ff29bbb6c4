// The page "See how it works" without a server: its requests are answered by a module that was loaded with it.
import { el, answeredBy, shown } from './parts.js';
import { methodView } from './method.js';
import { load } from './twinsift.js';

const place = document.getElementById('view');
try {
  const twinsift = await load();
  answeredBy(async (_, path, body) => twinsift.request(path, body));
  document.getElementById('about').append(` twinsift ${twinsift.version}.`);
  const view = methodView();
  place.replaceChildren(view.element);
  view.enter();
} catch (error) {
  place.replaceChildren(el('p', { class: 'problem', role: 'alert' }, 'The module could not be loaded: ', shown(error.message)));
}
