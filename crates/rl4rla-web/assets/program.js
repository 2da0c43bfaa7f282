// A program: its listing, its equation, what it costs and how it converges, exports, and what it is next to another.
import { allLists, get, post } from './api.js';
import { analysis } from './analysis.js';
import { chart } from './charts.js';
import { button, choice, code, facts, failure, field, h, link, put, table } from './dom.js';
import { equation } from './equation.js';
import { number, short } from './words.js';

const LANGUAGES = ['python', 'rust', 'julia', 'latex', 'json'];

export default async function view(frame, _rest, query) {
  const [of, text] = [query.get('of'), query.get('text')];
  if (!of && text === null) return catalogue(frame);
  const program = text === null ? await get('program', { of }) : await post('program/show', { program: text });
  const name = program.title ?? program.matched ?? program.name ?? of ?? 'Program';
  frame.title(name);
  const known = program.matched && program.matched !== of;
  const { families } = await allLists().catch(() => ({ families: [] }));
  const family = choice(families.map((one) => one.name), program.family ?? (program.geometry === 'tall' ? 'mid-cond' : families[0]?.name));
  put(frame.main,
    h('h1', null, name),
    program.about && h('p', { class: 'lead' }, program.about),
    h('section', null, equation(program.equation), program.latex && h('details', null, h('summary', null, 'LaTeX'), code(program.latex, 'the equation'))),
    h('section', null, h('h2', null, 'Listing'), listing(program), program.listing?.length ? h('details', null, h('summary', null, 'As text'), code(program.program, 'the program')) : code(program.program, 'the program')),
    h('section', null, h('h2', null, 'Cost'), facts([
      ['In all', program.flops], ['Setup', program.flops_setup], ['Iteration', program.flops_iteration], ['Refresh', program.flops_refresh === '0' ? null : program.flops_refresh],
      ['Entries of A read in setup', program.data_setup], ['per iteration', program.data_iteration],
    ]), h('p', { class: 'note' }, 'm rows and n columns of A, s rows of a sketch, k rows of a sample, T iterations.')),
    h('section', null, h('h2', null, 'Known as'), facts([
      ['In the catalogue', known ? link(program.matched, 'program', { of: program.matched }) : program.matched ?? 'no equal program'],
      ['Paper', program.paper], ['Literature', program.literature], ['Differs', program.differs], ['Reference', program.reference],
      ['Update', program.update], ['Shape of A', program.geometry], ['Identity', program.id && h('code', null, program.id)],
    ]), nearest(program)),
    h('section', null, h('h2', null, 'Convergence'), h('div', { class: 'filters' }, field('Family of problems', family)), history(program, family)),
    h('section', null, h('h2', null, 'Analysis'), asked('Analyze', 'A coarse analysis: rates, step sizes, digits, robustness, the worst case. It takes some seconds.', async () => analysis(await post('program/analyze', { program: program.program, family: family.value })))),
    h('section', null, h('h2', null, 'Export'), exports(program)),
    h('section', null, h('h2', { id: 'other' }, 'Next to another program'), await other(program, query.get('other'))),
  );
  return {};
}

/** All programs with names, where none is asked for. */
async function catalogue(frame) {
  const { programs } = await allLists();
  const holder = h('div');
  const show = (wanted) => {
    const words = wanted.toLowerCase().split(/\s+/);
    const found = programs.filter((one) => words.every((word) => `${one.name} ${one.about}`.toLowerCase().includes(word)));
    put(holder, found.length ? table([{ head: 'Program', cell: (one) => link(one.name, 'program', { of: one.name }) }, { head: 'What it is', long: true, cell: (one) => one.about }], found) : h('p', { class: 'empty' }, 'No program matches.'));
  };
  const search = h('input', { type: 'search', autocomplete: 'off', oninput: () => show(search.value) });
  const typed = h('textarea', { rows: 6, spellcheck: 'false', placeholder: 'iteration:\n  v1 = MAT_VEC_MUL(A, x)' });
  put(frame.main, h('h1', null, 'Programs'), h('div', { class: 'filters' }, field('Search', search)), holder,
    h('section', null, h('h2', null, 'A program of your own'), field('Program, or run:ID, run:ID/STAGE, run:ID#PLACE', typed), h('p', { class: 'actions' }, button('Open', () => {
      const wanted = typed.value.trim();
      if (wanted) frame.go('program', /^run:\S+$/.test(wanted) ? { of: wanted } : { text: `${wanted}\n` });
    }))));
  show('');
}

function listing(program) {
  const lines = program.listing ?? [];
  const head = (name) => h('th', { scope: 'col' }, name);
  const rows = lines.map((line, nth) => [line.section !== lines[nth - 1]?.section && h('tr', { class: 'group' }, h('th', { colspan: 2, scope: 'colgroup' }, line.section)),
    h('tr', null, h('th', { scope: 'row' }, h('code', null, line.text.trim())), h('td', null, line.shape))]);
  return lines.length > 0 && h('div', { class: 'scroll' }, h('table', { class: 'listing' }, h('thead', null, h('tr', null, head('Instruction'), head('Shape'))), h('tbody', null, rows)));
}

function nearest(program) {
  const near = program.nearest ?? [];
  return near.length > 0 && [h('h3', null, 'Nearest in the catalogue'), table([
    { head: 'Program', cell: (one) => link(one.name, 'program', { of: one.name }) }, { head: 'Edits apart', number: true, cell: (one) => short(one.edits) },
    { head: 'What it is', long: true, cell: (one) => one.about }, { head: 'Difference', cell: (one) => link('Show', 'program', { text: program.program, other: one.name }) },
  ], near)];
}

/** A button whose answer takes its time. */
function asked(name, about, work) {
  const holder = h('div', { 'aria-live': 'polite' });
  const go = button(name, async () => {
    go.disabled = true;
    put(holder, h('p', { class: 'note' }, 'Working …'));
    try {
      put(holder, await work());
    } catch (error) {
      put(holder, failure(error));
    }
    go.disabled = false;
  });
  return [h('p', { class: 'note' }, about), h('p', { class: 'actions' }, go), holder];
}

function history(program, family) {
  const iterations = h('input', { type: 'number', min: 1, max: 1000, value: 30 });
  const kappa = h('input', { type: 'text', inputmode: 'decimal', placeholder: 'as drawn', autocomplete: 'off' });
  return [h('div', { class: 'filters' }, field('Iterations', iterations), field('Condition numbers', kappa, 'separated by commas')),
    asked('Run it', 'Runs the program on fresh instances of its family; medians over the instances.', async () => {
      const kappas = kappa.value.split(/[\s,]+/).filter(Boolean).map(Number);
      const answer = await post('program/history', { program: program.program, family: family.value, iterations: Number(iterations.value), ...(kappas.length && { kappa: kappas }) });
      const figure = chart('Residual and excess over iterations');
      const points = (values) => (values ?? []).map((value, at) => [at, value]).filter(([, value]) => value > 0);
      figure.show({ series: [{ name: 'residual', points: points(answer.history), ink: 0 }, { name: 'excess', points: points(answer.excess_history), ink: 1 }], x: { label: 'iteration' }, y: { label: 'relative', log: true } });
      return [figure.element, facts([['Algorithm', answer.algorithm], ['Reward', `${number(answer.reward)} ± ${number(answer.reward_error)}`], ['Excess', number(answer.excess)], ['Residual', number(answer.residual)],
        ['Step', short(answer.step)], ['Flops', short(answer.flops)], ['Instances', `${answer.instances}, ${answer.failures} failed`]])];
    })];
}

function exports(program) {
  const language = choice(LANGUAGES, 'python');
  const holder = h('div', { 'aria-live': 'polite' });
  const show = async () => {
    try {
      put(holder, code((await post('program/export', { program: program.program, to: language.value })).text, `the ${language.value} code`));
    } catch (error) {
      put(holder, failure(error));
    }
  };
  return [h('div', { class: 'filters' }, field('Language', language), h('p', { class: 'actions' }, button('Export', show))), holder];
}

async function other(program, wanted) {
  const holder = h('div', { 'aria-live': 'polite' });
  const { programs } = await allLists().catch(() => ({ programs: [] }));
  const names = h('datalist', { id: 'program-names' }, programs.map((one) => h('option', { value: one.name })));
  const name = h('input', { type: 'text', list: 'program-names', autocomplete: 'off', value: wanted ?? '', placeholder: 'a name, or run:ID/STAGE' });
  const show = async (event) => {
    event?.preventDefault();
    const second = name.value.trim();
    if (!second) return;
    put(holder, h('p', { class: 'note' }, 'Working …'));
    try {
      const [verdict, there] = await Promise.all([post('program/equiv', { program: program.program, other: second }), get('program', { of: second })]);
      put(holder, judgement(verdict, there), h('h3', null, 'Difference'), difference(program.program, there.program));
    } catch (error) {
      put(holder, failure(error));
    }
  };
  if (wanted) show();
  return [h('form', { class: 'filters', onsubmit: show }, field('Other program', name), names, h('p', { class: 'actions' }, h('button', { type: 'submit' }, 'Compare'))), holder];
}

function judgement(verdict, there) {
  return h('article', { class: `finding ${verdict.equivalent ? 'found' : 'missed'}` },
    h('h3', null, h('span', { class: 'mark', 'aria-hidden': 'true' }, verdict.equivalent ? '✓' : '✗'), verdict.equivalent ? ' Equal in exact arithmetic' : ' Not equivalent'),
    equation(there.equation),
    facts([['By algebra', verdict.symbolic], ['By execution', verdict.numeric], ['Largest deviation', verdict.max_deviation === null ? null : number(verdict.max_deviation)],
      ['Steadier', verdict.stability?.steadier && `${verdict.stability.steadier}, at condition ${short(verdict.stability.kappa)}`]]),
    verdict.reasons?.length > 0 && h('ul', null, verdict.reasons.map((reason) => h('li', null, reason))));
}

/** The lines that two texts share, and those that only one has, as marks in order. */
export function diff(first, second) {
  const [a, b] = [first, second].map((text) => text.trimEnd().split('\n'));
  const longest = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push([' ', a[i++]]);
      j++;
    } else if (j === b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) lines.push(['−', a[i++]]);
    else lines.push(['+', b[j++]]);
  }
  return lines;
}

function difference(first, second) {
  const words = { '−': 'only here: ', '+': 'only there: ', ' ': '' };
  return h('pre', { class: 'diff', tabindex: 0 }, diff(first, second).map(([sign, line]) => h('span', { class: { '−': 'less', '+': 'more', ' ': 'same' }[sign] },
    h('span', { 'aria-hidden': 'true' }, `${sign} `), words[sign] && h('span', { class: 'hidden' }, words[sign]), `${line}\n`)));
}
