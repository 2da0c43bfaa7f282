// Starting a run: a built-in curriculum, a curriculum as TOML, or an exploration.
import { allLists, mayWrite, post } from './api.js';
import { choice, failure, field, h, later, link, put } from './dom.js';
import { editor } from './editor.js';
import { several } from './words.js';

const KINDS = [['curriculum', 'A built-in curriculum'], ['toml', 'A curriculum as TOML'], ['explore', 'An exploration']];
const EMPTY = 'title = "Mine"\nstart = "landweber"\n\n[[stage]]\nname = "ls-gd"\nedits = 1\nopen = ["iteration"]\nfamily = { kind = "low-cond" }\ntarget = "ls-gd"\n';

/** What is wrong with a number as typed; nothing if it may stand. */
function wrongNumber(text, { whole, least, most, needed }) {
  if (!text.trim()) return needed ? 'A number is needed.' : null;
  const value = Number(text);
  if (!Number.isFinite(value)) return `“${text}” is no number.`;
  if (whole && !Number.isInteger(value)) return 'A whole number is needed.';
  if (least !== undefined && value < least) return `At least ${least}.`;
  if (most !== undefined && value > most) return `At most ${most}.`;
  return null;
}

/** A field for a number, or for several; it says at once what is wrong. */
function numeric(name, label, rules, hint, value = '') {
  const said = h('small', { class: 'wrong', id: `wrong-${name}`, role: 'alert' });
  const input = h('input', { type: 'text', inputmode: 'decimal', name, value, autocomplete: 'off', 'aria-describedby': `wrong-${name}`, oninput: () => check() });
  const parts = () => (rules.several ? input.value.split(/[\s,]+/).filter(Boolean) : [input.value]);
  const check = () => {
    const found = parts().map((part) => wrongNumber(part, rules)).find(Boolean) ?? null;
    said.textContent = found ?? '';
    input.setAttribute('aria-invalid', String(found !== null));
    return found === null;
  };
  return { element: h('div', null, field(label, input, hint), said), input, check, get value() {
    if (!input.value.trim()) return null;
    return rules.several ? parts().map(Number) : Number(input.value);
  } };
}

export default async function view(frame, _rest, query) {
  if (!mayWrite()) {
    put(frame.main, h('h1', null, 'Start a run'), h('p', null, 'This page only shows runs. To start one, open the address that `rl4rla serve` has printed.'));
    return {};
  }
  const lists = await allLists();
  let kind = KINDS.some(([name]) => name === query.get('kind')) ? query.get('kind') : 'curriculum';
  let tomlGood = false;
  const said = h('div', { role: 'status' });
  const parts = h('div');
  const waiting = new Map(); // jobs that were asked for, until their runs are known

  const whole = { whole: true, least: 0 };
  const numbers = {
    seed: numeric('seed', 'Seed', { whole: true, least: 0, needed: true }, 'of the instances, random draws and search', '0'),
    budget: numeric('budget', 'Playouts per stage, at most', { whole: true, least: 1 }, 'as the curriculum says, if empty'),
    evaluations: numeric('evaluations', 'Evaluations per stage, at most', { whole: true, least: 1 }, 'no limit, if empty'),
    threads: numeric('threads', 'Threads', { whole: true, least: 1 }, 'all cores, if empty; results do not change'),
    rows: numeric('rows', 'Rows', { whole: true, least: 1, needed: true }, 'of your problems', '1000000'),
    cols: numeric('cols', 'Columns', { whole: true, least: 1, needed: true }, undefined, '500'),
    kappa: numeric('kappa', 'Condition numbers', { several: true, least: 1, needed: true }, 'separated by commas', '10, 1e4, 1e8'),
    tolerance: numeric('tolerance', 'Tolerance', { least: 0, most: 1, needed: true }, 'excess to reach', '1e-10'),
    edits: numeric('edits', 'Instructions of a direction, at most', { ...whole, least: 1, most: 20, needed: true }, undefined, '7'),
  };
  const curriculum = choice(lists.curricula.map((one) => ({ value: one.name, text: one.name })), query.get('curriculum') ?? lists.curricula[0]?.name, { name: 'curriculum', onchange: () => describe() });
  const method = choice(lists.methods.map((one) => one.name), lists.methods.some((one) => one.name === 'best') ? 'best' : lists.methods[0]?.name, { name: 'method', onchange: () => describe() });
  const family = choice(lists.families.map((one) => ({ value: one.name, text: `${one.name} (${one.task})` })), 'mid-cond', { name: 'family', onchange: () => describe() });
  const aboutCurriculum = h('p', { class: 'note' });
  const aboutMethod = h('p', { class: 'note' });
  const aboutFamily = h('p', { class: 'note' });
  const begin = h('button', { type: 'submit', class: 'strong' }, 'Start');
  const verdict = h('p', { class: 'note', role: 'status' });

  let checks = 0;
  const check = later(async () => {
    const mine = ++checks;
    try {
      const found = await post('check', { toml: sheet.text });
      if (mine !== checks) return;
      tomlGood = found.ok;
      sheet.mark(found.errors ?? []);
      verdict.textContent = found.ok ? `Good: ${several(found.stages.length, 'stage')}, ${found.stages.join(', ')}.` : `${several(found.errors.length, 'error')}.`;
    } catch (error) {
      if (mine !== checks) return;
      tomlGood = true; // The server decides when it is started.
      verdict.textContent = error.message;
    }
    enable();
  }, 250);
  const sheet = editor('Curriculum as TOML', EMPTY, lists, () => {
    tomlGood = false;
    verdict.textContent = 'Checking …';
    enable();
    check();
  });

  function describe() {
    const chosen = lists.curricula.find((one) => one.name === curriculum.value);
    const stages = Array.isArray(chosen?.stages) ? chosen.stages.length : chosen?.stages;
    put(aboutCurriculum, chosen && `${chosen.title}. ${several(stages, 'stage')}. `, chosen?.text && h('button', { type: 'button', class: 'plain', onclick: () => {
      sheet.text = chosen.text;
      turn('toml');
      sheet.area.focus();
    } }, 'Change it as TOML'));
    aboutMethod.textContent = lists.methods.find((one) => one.name === method.value)?.about ?? '';
    aboutFamily.textContent = lists.families.find((one) => one.name === family.value)?.about ?? '';
  }

  const used = () => (kind === 'explore' ? ['seed', 'rows', 'cols', 'kappa', 'tolerance', 'edits', 'threads'] : ['seed', 'budget', 'evaluations', 'threads']);
  const enable = () => { begin.disabled = kind === 'toml' && !tomlGood; };

  function turn(next) {
    kind = next;
    form.querySelector(`input[value="${kind}"]`).checked = true;
    const rows = h('div', { class: 'grid-form' }, used().map((name) => numbers[name].element));
    const methods = h('div', null, field('Method', method), aboutMethod);
    if (kind === 'curriculum') put(parts, field('Curriculum', curriculum), aboutCurriculum, methods, rows);
    else if (kind === 'toml') {
      put(parts, sheet.element, verdict, methods, rows);
      check();
    } else put(parts, field('Family of problems', family), aboutFamily, rows);
    enable();
  }

  async function start(event) {
    event.preventDefault();
    const wrong = used().find((name) => !numbers[name].check());
    if (wrong) return numbers[wrong].input.focus();
    const value = Object.fromEntries(used().map((name) => [name, numbers[name].value]));
    const body = kind === 'explore' ? { kind: 'explore', family: family.value, ...value }
      : { kind: 'discover', ...(kind === 'toml' ? { toml: sheet.text } : { curriculum: curriculum.value }), method: method.value, ...value };
    begin.disabled = true;
    put(said, h('p', { class: 'note' }, 'Starting …'));
    try {
      const { job } = await post('runs', body);
      waiting.set(job, true);
      const early = heardJobs.get(job);
      if (early) follow(early);
    } catch (error) {
      put(said, failure(error));
    }
    enable();
    return undefined;
  }

  // A job may be told of before its number is known.
  const heardJobs = new Map();
  function follow(job) {
    heardJobs.set(job.job, job);
    if (!waiting.has(job.job)) return;
    if (job.state === 'failed') put(said, failure({ message: job.error ?? 'The run could not be started.' }));
    else if (job.run) frame.go('run', job.run);
    else return;
    waiting.delete(job.job);
  }

  const form = h('form', { class: 'form', onsubmit: start, novalidate: true },
    h('fieldset', { class: 'kinds' }, h('legend', null, 'What to run'), KINDS.map(([name, words]) => h('label', null, h('input', { type: 'radio', name: 'kind', value: name, onchange: () => turn(name) }), ` ${words}`))),
    parts, said, h('p', { class: 'actions' }, begin));
  put(frame.main, h('h1', null, 'Start a run'), h('p', { class: 'lead' }, 'The run goes on when this page is closed. An interrupted run is resumed from ', link('its own page', 'runs', { status: 'interrupted' }), '.'), form);
  turn(kind);
  describe();
  return { heard(name, data) {
    if (name === 'job') follow(data);
  } };
}
