// A text area for TOML: line numbers, marks at lines with errors, and completion of what may stand there.
import { button, h, put } from './dom.js';
import { complete } from './completion.js';

let made = 0;

/** `changed(text)` is called with every change; `lists` is the answer of /api/lists. */
export function editor(label, text, lists, changed) {
  const id = `editor-${++made}`;
  const area = h('textarea', { id, class: 'source', spellcheck: 'false', wrap: 'off', autocomplete: 'off', autocapitalize: 'off', rows: 22, 'aria-label': label, 'aria-autocomplete': 'list', 'aria-controls': `${id}-list`, 'aria-describedby': `${id}-help` });
  area.value = text;
  const gutter = h('div', { class: 'gutter', 'aria-hidden': 'true' });
  const menu = h('ul', { class: 'menu', id: `${id}-list`, role: 'listbox', 'aria-label': 'Completions', hidden: true });
  const errors = h('ul', { class: 'errors', 'aria-live': 'polite' });
  let items = [];
  let at = 0;
  let from = 0;
  let wrong = new Map();

  function numbers() {
    const lines = area.value.split('\n').length;
    put(gutter, Array.from({ length: lines }, (_, nth) => h('div', { class: wrong.has(nth + 1) ? 'wrong' : undefined, title: wrong.get(nth + 1) }, String(nth + 1))));
    gutter.scrollTop = area.scrollTop;
  }

  function close() {
    items = [];
    menu.hidden = true;
    area.removeAttribute('aria-activedescendant');
  }

  function open(asked) {
    if (area.selectionStart !== area.selectionEnd) return close();
    const found = complete(area.value, area.selectionStart, lists);
    if (!found.items.length || (!asked && !found.word)) return close();
    ({ from, items } = found);
    at = 0;
    drawMenu();
    place();
  }

  function drawMenu() {
    put(menu, items.map((item, nth) => h('li', { id: `${id}-${nth}`, role: 'option', 'aria-selected': String(nth === at), onmousedown: (event) => {
      event.preventDefault();
      at = nth;
      accept();
    } }, h('b', null, item.text), item.about && h('small', null, item.about))));
    menu.hidden = false;
    area.setAttribute('aria-activedescendant', `${id}-${at}`);
    menu.children[at]?.scrollIntoView({ block: 'nearest' });
  }

  // All signs are as wide as one another.
  function place() {
    const before = area.value.slice(0, from);
    const line = before.split('\n').length - 1;
    const column = before.length - before.lastIndexOf('\n') - 1;
    const style = getComputedStyle(area);
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const wide = pen.measureText('0').width;
    const high = parseFloat(style.lineHeight);
    const left = area.offsetLeft + parseFloat(style.paddingLeft) + column * wide - area.scrollLeft;
    menu.style.left = `${Math.max(0, Math.min(left, area.offsetLeft + area.clientWidth - menu.offsetWidth))}px`;
    menu.style.top = `${area.offsetTop + parseFloat(style.paddingTop) + (line + 1) * high - area.scrollTop + 4}px`;
  }

  function accept() {
    const item = items[at];
    area.setRangeText(item.insert ?? item.text, from, area.selectionStart, 'end');
    close();
    changed(area.value);
    numbers();
  }

  area.addEventListener('input', () => {
    changed(area.value);
    numbers();
    open(false);
  });
  area.addEventListener('scroll', () => {
    gutter.scrollTop = area.scrollTop;
    if (!menu.hidden) place();
  });
  area.addEventListener('blur', close);
  area.addEventListener('click', close);
  area.addEventListener('keydown', (event) => {
    if (event.ctrlKey && (event.key === ' ' || event.code === 'Space')) {
      event.preventDefault();
      return open(true);
    }
    if (menu.hidden) return undefined;
    const turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (turn) {
      event.preventDefault();
      at = (at + turn + items.length) % items.length;
      drawMenu();
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      event.preventDefault();
      accept();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) close();
    return undefined;
  });

  /** Goes to a line, as an error names it. */
  function go(line, column) {
    const lines = area.value.split('\n');
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0) + Math.max(0, (column ?? 1) - 1);
    area.focus();
    area.setSelectionRange(start, start);
    area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(area).lineHeight));
  }

  numbers();
  return {
    element: h('div', { class: 'editor' }, h('div', { class: 'sheet' }, gutter, area, menu), h('p', { class: 'note', id: `${id}-help` }, 'Ctrl+Space completes keys, operators and families; arrows choose, Enter takes, Escape closes. Tab leaves the text.'), errors),
    area,
    get text() {
      return area.value;
    },
    set text(value) {
      area.value = value;
      close();
      numbers();
      changed(value);
    },
    /** Shows what the server found. */
    mark(found) {
      wrong = new Map(found.filter((one) => one.line).map((one) => [one.line, one.message]));
      area.setAttribute('aria-invalid', String(found.length > 0));
      numbers();
      put(errors, found.map((one) => h('li', null, one.line && button(`Line ${one.line}`, () => go(one.line, one.column), { class: 'plain' }), ' ', one.message, one.advice && h('small', null, one.advice))));
    },
  };
}
