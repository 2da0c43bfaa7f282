// The frame of the page: which view is shown, the connection, and notices.
import { address, button, failure, h, put } from './dom.js';
import { listen, mayWrite, server, takeToken, get } from './api.js';
import { count } from './words.js';

// A view is a function of its frame, the rest of its address and the query; it may answer {heard, refresh, close}.
const VIEWS = {
  runs: { module: './runs.js', title: 'Runs' },
  run: { module: './run.js', title: 'Run' },
  graph: { module: './graph.js', title: 'Search graph' },
  campaigns: { module: './campaigns.js', title: 'Campaigns' },
  program: { module: './program.js', title: 'Program' },
  compare: { module: './compare.js', title: 'Compare' },
  map: { module: './map.js', title: 'Winner map' },
  start: { module: './start.js', title: 'Start a run' },
};
const MENU = ['runs', 'campaigns', 'program', 'compare', 'map', 'start'];
const MENU_NAMES = { program: 'Programs', start: 'Start' };

const main = document.getElementById('view');
let shown = null;
let visits = 0;

/** What a view gets of the page around it. */
const frame = {
  main,
  /** Says something at the edge of the page; `action` is {text, work}. */
  notice(text, action) {
    const box = document.getElementById('notices');
    const close = () => note.remove();
    const note = h('p', { class: 'notice' }, h('span', null, text), action && button(action.text, () => {
      close();
      action.work();
    }), button('×', close, { 'aria-label': 'Close', class: 'plain' }));
    box.append(note);
    setTimeout(close, action ? 20000 : 6000);
  },
  title(text) {
    document.title = `${text} · rl4rla`;
  },
  /** Writes what a view shows into the address, without a step in the history. */
  keep(...place) {
    history.replaceState(null, '', address(...place));
  },
  go(...place) {
    location.hash = address(...place);
  },
};

function route() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [name, ...rest] = path.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { name: VIEWS[name] ? name : 'runs', rest, query: new URLSearchParams(query ?? '') };
}

async function show(moved) {
  const { name, rest, query } = route();
  const visit = ++visits;
  shown?.close?.();
  shown = null;
  menu(name);
  frame.title(VIEWS[name].title);
  main.setAttribute('aria-busy', 'true');
  try {
    const { default: view } = await import(VIEWS[name].module);
    if (visit !== visits) return;
    main.className = `view-${name}`;
    put(main);
    if (moved) scrollTo(0, 0);
    const opened = await view(frame, rest, query);
    if (visit === visits) shown = opened ?? {};
    else opened?.close?.();
  } catch (error) {
    if (visit === visits) {
      main.append(h('h1', null, VIEWS[name].title), failure(error));
      // A server that is away is asked again when it is back.
      shown = { refresh: () => show(false) };
    }
  }
  if (visit !== visits) return;
  main.removeAttribute('aria-busy');
  if (moved) main.focus({ preventScroll: true });
}

function menu(current) {
  const fits = { start: mayWrite, campaigns: () => server.about?.campaigns > 0 };
  const names = MENU.filter((name) => fits[name]?.() ?? true);
  put(document.getElementById('views'), h('ul', null, names.map((name) => h('li', null,
    h('a', { href: address(name), 'aria-current': name === current ? 'page' : undefined }, MENU_NAMES[name] ?? VIEWS[name].title)))));
}

function about() {
  const about = server.about;
  if (!about) return;
  document.getElementById('store').textContent = about.store;
  const way = about.read_only ? 'This server only shows runs.' : mayWrite() ? '' : 'This tab only shows runs: to start, stop and mark them, open the address that `rl4rla serve` has printed.';
  put(document.getElementById('about'), h('p', null, `rl4rla ${about.version} · ${count(about.counts.all)} runs, ${count(about.counts.running)} running · `,
    `${about.threads} ${about.threads === 1 ? 'thread' : 'threads'}`), way && h('p', null, way));
}

let missed = false;
function connection(connected) {
  document.getElementById('connection').textContent = connected ? '' : 'Disconnected, trying again …';
  document.body.classList.toggle('away', !connected);
  // After the first greeting every further one means that events were missed.
  if (connected && missed) shown?.refresh?.();
  missed = true;
}

function heard(kind, data) {
  if (kind === 'hello') {
    about();
    menu(route().name);
  }
  if (kind === 'job' && data.state === 'failed' && data.error) frame.notice(`A run failed: ${data.error}`);
  shown?.heard?.(kind, data);
}

document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener('hashchange', () => {
  if (takeToken()) about();
  show(true);
});
takeToken();
get('about').then((said) => {
  server.about ??= said;
  about();
  menu(route().name);
}).catch(() => connection(false));
show(false);
listen(heard, connection);
