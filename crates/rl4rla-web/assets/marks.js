// What is said about a run: its state, its tags and its note; and what one can do with it.
import { button, field, h, put } from './dom.js';
import { mayWrite, post, replace, runPath } from './api.js';

const STATES = {
  running: ['●', 'running'], interrupted: ['◐', 'interrupted'], done: ['✓', 'done'], failed: ['✗', 'failed'],
};

/** The state of a run, in a sign and a word. */
export function state(row) {
  const [sign, word] = STATES[row.status] ?? ['·', row.status];
  const missed = row.status === 'done' && row.found === false;
  const words = row.status !== 'done' || row.found === null ? word : row.found ? 'found' : 'not found';
  return h('span', { class: `state ${missed ? 'missed' : row.status}` }, h('span', { class: 'mark', 'aria-hidden': 'true' }, missed ? '✗' : sign), ` ${words}`);
}

export function tags(row) {
  return row.tags.map((tag) => h('span', { class: 'tag' }, tag));
}

/** Deletes a run and offers to take that back. */
export async function remove(frame, row, done) {
  try {
    done(await post(runPath(row.id, '/delete')));
    frame.notice(`Run ${row.id} is deleted.`, { text: 'Undo', work: () => restore(frame, row, done) });
  } catch (error) {
    frame.notice([error.message, error.advice].filter(Boolean).join(' '));
  }
}

export async function restore(frame, row, done) {
  try {
    done(await post(runPath(row.id, '/restore')));
    frame.notice(`Run ${row.id} is back.`);
  } catch (error) {
    frame.notice([error.message, error.advice].filter(Boolean).join(' '));
  }
}

/** Tags and note of a run, to read and, where one may, to write. */
export function marks(frame, row, changed) {
  const holder = h('div', { class: 'marks' });
  const show = () => put(holder, row.tags.length > 0 && h('p', null, tags(row)), row.note && h('p', { class: 'words' }, row.note),
    mayWrite() && button(row.tags.length || row.note ? 'Change tags and note' : 'Add tags or a note', edit, { class: 'plain' }));
  const edit = () => {
    const names = h('input', { type: 'text', value: row.tags.join(', '), maxlength: 400, autocomplete: 'off' });
    const note = h('textarea', { rows: 3, value: row.note ?? '', maxlength: 4000 });
    const said = h('p', { class: 'said', role: 'alert' });
    const save = async (event) => {
      event.preventDefault();
      const wanted = names.value.split(',').map((tag) => tag.trim()).filter(Boolean);
      try {
        row = await replace(runPath(row.id, '/marks'), { tags: [...new Set(wanted)], note: note.value });
        changed(row);
        show();
        holder.querySelector('button')?.focus();
      } catch (error) {
        said.textContent = [error.message, error.advice].filter(Boolean).join(' ');
      }
    };
    put(holder, h('form', { onsubmit: save, class: 'form' }, field('Tags', names, 'separated by commas'), field('Note', note), said,
      h('p', { class: 'actions' }, h('button', { type: 'submit' }, 'Save'), button('Cancel', show, { class: 'plain' }))));
    names.focus();
  };
  show();
  return { element: holder, update(next) {
    row = next;
    if (!holder.querySelector('form')) show();
  } };
}
