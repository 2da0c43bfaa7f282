// All runs: filtered, sorted and paged by the server, a hundred rows at a time.
import { address, button, choice, failure, field, h, later, link, put, table, tableRow } from './dom.js';
import { get, mayWrite } from './api.js';
import { ago, count, duration, moment, several } from './words.js';
import { remove, restore, state, tags } from './marks.js';

const PAGE = 100;
const STATES = ['running', 'interrupted', 'done', 'failed'];
const WIDEST = 200; // runs compared at a time
// Where rows are cards, there are no heads to sort by.
const ORDERS = [['created desc', 'newest first'], ['created asc', 'oldest first'], ['curriculum asc', 'curriculum'], ['method asc', 'method'], ['status asc', 'state'],
  ['seconds desc', 'longest first'], ['evaluations desc', 'most evaluations first']].map(([value, text]) => ({ value, text }));

export default async function runs(frame, _rest, query) {
  const wish = Object.fromEntries(query);
  wish.sort ??= 'created';
  wish.order ??= 'desc';
  const chosen = new Set();
  const rowsShown = new Map();
  let known = { total: 0, matching: 0, curricula: [], methods: [], tags: [] };
  let asked = 0;

  const page = () => Math.max(1, Number(wish.page) || 1);
  const marked = (sort) => (wish.sort === sort ? (wish.order === 'asc' ? 'ascending' : 'descending') : undefined);

  const changed = (row) => {
    const old = rowsShown.get(row.id);
    if (row.deleted !== (wish.deleted === '1')) load();
    else if (old) {
      const fresh = tableRow(columns(), row);
      const focused = [...old.querySelectorAll('a, input, button')].indexOf(document.activeElement);
      old.replaceWith(fresh);
      fresh.querySelectorAll('a, input, button')[focused]?.focus();
      rowsShown.set(row.id, fresh);
    }
  };

  function columns() {
    const sortable = (head, sort) => {
      const sorted = marked(sort);
      const turn = () => {
        wish.order = wish.sort === sort && wish.order === 'desc' ? 'asc' : 'desc';
        wish.sort = sort;
        ask();
      };
      return { head, sorted, headCell: button([head, sorted && h('span', { 'aria-hidden': 'true' }, sorted === 'ascending' ? ' ↑' : ' ↓')], turn, { class: 'head', 'data-sort': sort }) };
    };
    const pick = (row) => h('input', { type: 'checkbox', checked: chosen.has(row.id), 'aria-label': `Compare run ${row.id}`, onchange: (event) => {
      if (event.target.checked) chosen.add(row.id);
      else chosen.delete(row.id);
      picked();
    } });
    const act = (row) => (row.deleted ? button('Restore', () => restore(frame, row, changed)) : button('Delete', () => remove(frame, row, changed), { class: 'plain', 'aria-label': `Delete run ${row.id}`, disabled: row.status === 'running' }));
    return [
      { ...sortable('Curriculum', 'curriculum'), long: true, cell: (row) => h('span', { class: 'pick' }, pick(row), h('span', null, link(row.curriculum, 'run', row.id), h('small', null, ` ${row.id}`))) },
      { ...sortable('Method', 'method'), cell: (row) => row.method },
      { ...sortable('Seed', 'seed'), number: true, cell: (row) => String(row.seed) },
      { ...sortable('State', 'status'), cell: state },
      { ...sortable('Begun', 'created'), cell: (row) => h('time', { datetime: new Date(row.created * 1000).toISOString(), title: moment(row.created) }, ago(row.created)) },
      { ...sortable('Time', 'seconds'), number: true, cell: (row) => duration(row.seconds) },
      { ...sortable('Evaluations', 'evaluations'), number: true, cell: (row) => count(row.evaluations) },
      { head: 'Stages', number: true, cell: (row) => String(row.stages) },
      { head: 'Tags and note', long: true, cell: (row) => (row.tags.length || row.note ? [tags(row), row.note && h('span', { class: 'words clip', title: row.note }, row.note)] : null) },
      ...(mayWrite() ? [{ head: 'Action', cell: act }] : []),
    ];
  }

  // The frame of the view.
  const search = h('input', { type: 'search', value: wish.text ?? '', autocomplete: 'off', oninput: later(() => filter('text', search.value.trim()), 250) });
  const filters = h('div', { class: 'filters', role: 'search' });
  const sum = h('p', { class: 'sum', role: 'status' });
  const body = h('div');
  const pages = h('nav', { class: 'pages', 'aria-label': 'Pages' });
  const compare = h('p', { class: 'actions bar-bottom' });
  put(frame.main, h('h1', null, 'Runs'), filters, sum, body, pages, compare);

  function filter(name, value) {
    wish[name] = value;
    delete wish.page;
    ask();
  }

  function drawFilters() {
    const any = (name, label, options) => field(label, choice([{ value: '', text: 'all' }, ...options], wish[name], { onchange: (event) => filter(name, event.target.value), 'data-filter': name }));
    const focused = document.activeElement?.dataset?.filter;
    put(filters, field('Search', search), any('status', 'State', STATES), any('curriculum', 'Curriculum', known.curricula), any('method', 'Method', known.methods),
      any('tag', 'Tag', known.tags), h('div', { class: 'field sorting' }, field('Sorted by', choice(ORDERS, `${wish.sort} ${wish.order}`, { 'data-filter': 'order', onchange: (event) => {
        [wish.sort, wish.order] = event.target.value.split(' ');
        ask();
      } }))), field('Deleted', h('input', { type: 'checkbox', 'data-filter': 'deleted', checked: wish.deleted === '1', onchange: (event) => filter('deleted', event.target.checked ? '1' : '') })));
    if (focused) filters.querySelector(`[data-filter="${focused}"]`)?.focus();
  }

  function picked() {
    const many = chosen.size > WIDEST;
    put(compare, chosen.size > 0 && h('a', { class: 'button', href: address('compare', { runs: [...chosen].slice(0, WIDEST).join(',') }) }, `Compare ${several(Math.min(chosen.size, WIDEST), 'run')}`),
      chosen.size > 0 && button('Select none', () => {
        chosen.clear();
        body.querySelectorAll('input[type=checkbox]').forEach((box) => { box.checked = false; });
        picked();
      }, { class: 'plain' }), many && ` At most ${WIDEST} are compared at a time.`);
  }

  function turn(to) {
    wish.page = String(to);
    ask().then(() => {
      frame.main.scrollIntoView();
      body.querySelector('a')?.focus({ preventScroll: true });
    });
  }

  function draw({ items }) {
    const heads = columns();
    const box = table(heads, items, { class: 'runs' }, 70);
    rowsShown.clear();
    const lines = box.querySelectorAll('tbody tr');
    items.forEach((row, nth) => rowsShown.set(row.id, lines[nth]));
    // Who sorts by keyboard stays on the head that was pressed.
    const sort = document.activeElement?.dataset?.sort;
    put(body, items.length ? box : h('p', { class: 'empty' }, known.total ? 'No run matches.' : 'The store has no runs yet.'));
    if (sort) body.querySelector(`[data-sort="${sort}"]`)?.focus();
    const last = Math.max(1, Math.ceil(known.matching / PAGE));
    put(pages, last > 1 && [button('Previous', () => turn(page() - 1), { disabled: page() <= 1, 'aria-label': 'Previous page' }),
      h('span', null, ` page ${count(page())} of ${count(last)} `), button('Next', () => turn(page() + 1), { disabled: page() >= last, 'aria-label': 'Next page' })]);
    sum.textContent = known.matching === known.total ? several(known.total, 'run') : `${count(known.matching)} of ${several(known.total, 'run')}`;
    picked();
  }

  async function load() {
    const number = ++asked;
    const { page: _, ...rest } = wish;
    try {
      const answer = await get('runs', { ...rest, offset: (page() - 1) * PAGE, limit: PAGE });
      if (number !== asked) return;
      const lists = ['curricula', 'methods', 'tags'];
      const same = filters.firstChild && lists.every((name) => String(known[name]) === String(answer[name]));
      known = answer;
      if (!same) drawFilters();
      draw(answer);
    } catch (error) {
      if (number === asked) put(body, failure(error));
    }
  }

  function ask() {
    frame.keep('runs', wish);
    return load();
  }

  const soon = later(load, 700);
  await load();
  return {
    refresh: load,
    heard(kind, data) {
      if (kind !== 'runs') return;
      const rows = data.rows ?? [];
      rows.filter((row) => rowsShown.has(row.id)).forEach(changed);
      // A run that is not on this page may belong here now.
      if (data.gone?.length || rows.some((row) => !rowsShown.has(row.id))) soon();
    },
  };
}
