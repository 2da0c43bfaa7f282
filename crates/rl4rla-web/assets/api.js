// Requests to the server, and its events.

const KEPT = 'rl4rla-token';

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(status, message, advice) {
    super(message);
    this.status = status;
    this.advice = advice;
  }
}

/** Takes the token out of the address, where the first line of `rl4rla serve` has put it. */
export function takeToken() {
  const token = /^#token=([0-9a-fA-F]+)/.exec(location.hash)?.[1];
  if (!token) return false;
  sessionStorage.setItem(KEPT, token);
  history.replaceState(null, '', `${location.pathname}#/runs`);
  return true;
}

/** What the server said of itself; `hello` renews it. */
export const server = { about: null };

/** Whether this page may start, stop and mark runs. */
export function mayWrite() {
  return !server.about?.read_only && sessionStorage.getItem(KEPT) !== null;
}

async function ask(method, path, body, signal) {
  const headers = {};
  const token = sessionStorage.getItem(KEPT);
  if (method !== 'GET' && token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal, credentials: 'omit', cache: 'no-store' });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refusal(0, 'The server does not answer.', 'Is `rl4rla serve` still running? The page goes on by itself when it is back.');
  }
  const kind = answer.headers.get('Content-Type') ?? '';
  const content = kind.includes('json') ? await answer.json() : await answer.text();
  if (answer.ok) return content;
  const stale = token && (answer.status === 401 || answer.status === 403) && method !== 'GET';
  const advice = stale ? 'If the server was started again, open the new address that it has printed.' : content.advice;
  throw new Refusal(answer.status, content.error ?? `The server answered ${answer.status}.`, advice);
}

export function get(path, query, signal) {
  const known = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return ask('GET', `/api/${path}${known.length ? `?${new URLSearchParams(known)}` : ''}`, undefined, signal);
}

export const post = (path, body = {}, signal) => ask('POST', `/api/${path}`, body, signal);
export const replace = (path, body) => ask('PUT', `/api/${path}`, body);

/** The path of a run, with what follows it. */
export const runPath = (id, rest = '') => `runs/${encodeURIComponent(id)}${rest}`;

let lists;
/** Names to choose from; asked for once. */
export function allLists() {
  lists ??= get('lists').catch((error) => {
    lists = undefined;
    throw error;
  });
  return lists;
}

/**
 * Listens to the server while the tab is seen: a browser allows few connections, and a hidden page needs none.
 * `heard(kind, data)` gets every event; `state(connected)` is told when the line breaks and when it is back.
 */
export function listen(heard, state) {
  let source;
  let retry;
  const open = () => {
    clearTimeout(retry);
    source = new EventSource('/api/events');
    for (const kind of ['hello', 'runs', 'live', 'job']) {
      source.addEventListener(kind, (event) => {
        const data = JSON.parse(event.data);
        if (kind === 'hello') server.about = data.about ?? data;
        if (kind === 'hello') state(true);
        heard(kind, data);
      });
    }
    source.addEventListener('error', () => {
      state(false);
      // The browser tries again by itself, unless the answer was no stream at all.
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, 2000);
    });
  };
  const close = () => {
    clearTimeout(retry);
    source?.close();
    source = undefined;
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close();
    else if (!source) open();
  });
  if (!document.hidden) open();
}
