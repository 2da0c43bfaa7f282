// Elements made by script. Whatever comes from the server goes in as text.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'selected' || name === 'indeterminate') element[name] = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** An element; functions named `on…` listen, strings among the children are text. */
export function h(name, props, ...children) {
  return fill(document.createElement(name), props, children);
}

/** An element of a drawing. */
export function s(name, props, ...children) {
  return fill(document.createElementNS(SVG, name), props, children);
}

/** Puts other children into an element. */
export function put(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

/** A table. A column is {head, cell(row), number?, long?}; each cell names its head, for cards. `least` is the width in rem that it needs, if known. */
export function table(columns, rows, props, least) {
  const lines = rows.map((row) => tableRow(columns, row));
  const heads = columns.map((column) => h('th', { role: 'columnheader', scope: 'col', class: column.number && 'number', 'aria-sort': column.sorted },
    column.headCell ?? column.head));
  const kind = [`at-${least ?? room(columns, lines)}`, props?.class].filter(Boolean).join(' ');
  // Roles, since cards are laid out as no table is.
  return h('div', { class: 'rows' }, h('table', { role: 'table', ...props, class: kind }, h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, heads)),
    h('tbody', { role: 'rowgroup', class: 'end' }, lines)));
}

// Widths in rem below which the style sheet makes cards of rows.
const STEPS = [20, 26, 34, 44, 56, 70, 90];

/** The width below which a table becomes cards: an estimate from its letters. */
function room(columns, lines) {
  const wide = columns.map((column, place) => {
    const most = Math.max(column.head.length, ...lines.slice(0, 40).map((line) => line.children[place].textContent.length));
    return 1.1 + (column.long ? Math.min(20, Math.max(11, most * 0.5)) : Math.min(place ? 40 : 18, most * 0.5));
  });
  const sum = wide.reduce((all, one) => all + one, 0);
  return STEPS.find((step) => step >= sum) ?? STEPS.at(-1);
}

/** A row of such a table. */
export function tableRow(columns, row) {
  return h('tr', { role: 'row' }, columns.map((column, place) => {
    const said = column.cell(row) ?? '–';
    const kind = [column.number && 'number', column.long && 'long', said === '–' && 'void'].filter(Boolean).join(' ') || undefined;
    // One element in each cell, so that it may be laid out beside its head.
    const inside = Array.isArray(said) ? h('div', null, said) : said;
    return place ? h('td', { role: 'cell', class: kind, 'data-head': column.head }, inside) : h('th', { role: 'rowheader', scope: 'row', class: kind, 'data-head': '' }, inside);
  }));
}

/** Names and values; those without value are left out. */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return h('dl', null, known.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

/** A labelled control. */
export function field(label, control, hint) {
  return h('label', { class: 'field' }, h('span', null, label), control, hint && h('small', null, hint));
}

/** A list to choose from; an option is a text or {value, text}. */
export function choice(options, value, props) {
  const items = options.map((option) => (typeof option === 'object' ? option : { value: option, text: option }));
  const element = h('select', props, items.map((item) => h('option', { value: item.value }, item.text)));
  element.value = value ?? '';
  return element;
}

export function button(text, onclick, props) {
  return h('button', { type: 'button', onclick, ...props }, text);
}

/** A link to a view of this page. */
export function link(text, ...place) {
  return h('a', { href: address(...place) }, text);
}

/** The address of a view: `address('run', id, {stage: 2})`. */
export function address(...place) {
  const query = typeof place.at(-1) === 'object' ? place.pop() : {};
  const known = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const rest = new URLSearchParams(known).toString();
  return `#/${place.map(encodeURIComponent).join('/')}${rest && `?${rest}`}`;
}

/** Calls a function once, some time after it was last asked for. */
export function later(work, wait) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(work, wait, ...args);
  };
}

/** Text that says what went wrong. */
export function failure(error) {
  return h('div', { class: 'remark bad', role: 'alert' }, h('p', null, error.message), error.advice && h('p', null, error.advice));
}

/** A code block with a button that copies it. */
export function code(text, label) {
  const copy = button('Copy', async () => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(block);
      copy.textContent = 'Selected: copy with Ctrl+C';
    }
    setTimeout(() => { copy.textContent = 'Copy'; }, 2500);
  }, { class: 'copy', 'aria-label': label && `Copy ${label}` });
  const block = h('pre', { tabindex: 0 }, h('code', null, text));
  return h('div', { class: 'code' }, copy, block);
}
