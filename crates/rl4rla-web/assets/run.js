// One run, as it happens and as it ended.
import { button, choice, facts, field, h, link, put } from './dom.js';
import { get, mayWrite, post, runPath } from './api.js';
import { figure } from './charts.js';
import { marks, remove, restore, state } from './marks.js';
import { meter, Speed, stages } from './progress.js';
import { request, results } from './results.js';
import { front, leader, rewards } from './watch.js';
import { ago, count, duration, moment } from './words.js';

export default async function view(frame, [id]) {
  let run = await get(runPath(id));
  let live = run.live;
  let curves = [];
  let picked = null; // the stage whose curves are shown; null is the last
  let closed = false;
  let asked = 0; // when the curves were last asked for
  let loading = false; // whether they are on their way
  let later; // the next look at them
  const speed = new Speed();
  frame.title(`${run.row.curriculum}, run ${id}`);

  const said = h('div', { role: 'status' });
  const head = h('div');
  const actions = h('p', { class: 'actions' });
  const steps = h('div');
  const counts = meter();
  const best = leader();
  const curve = rewards();
  const pareto = front();
  const stagePick = h('div', { class: 'filters' });
  const work = h('section', { hidden: true }, h('h2', null, 'At work'), counts.element);
  const figures = h('section', null, h('h2', null, 'Search'), stagePick, h('div', { class: 'panels two' },
    h('figure', null, h('figcaption', null, h('strong', null, 'Reward of the best program'), ' and its parts over the evaluations of the stage.'), curve.element),
    h('figure', null, h('figcaption', null, h('strong', null, 'Pareto front'), ' of excess and work of the stage; grey is where it was before.'), pareto.element)));
  const marked = marks(frame, run.row, (row) => { run.row = row; });
  const done = results(run);
  put(frame.main, h('h1', null, run.row.curriculum, h('small', null, ` run ${id}`)), head, actions, said, marked.element, h('h2', { class: 'hidden' }, 'Progress'), steps, work, best.element, figures, request(run));
  order();

  // What happens comes first, and what came of it when it has ended.
  function order() {
    if (run.row.status === 'running') figures.after(done.element);
    else figures.before(done.element);
  }

  async function act(path) {
    put(said);
    try {
      run.row = await post(runPath(id, path));
      await load();
    } catch (error) {
      put(said, h('p', { class: 'remark bad' }, [error.message, error.advice].filter(Boolean).join(' ')));
    }
  }

  function drawActions() {
    const { row } = run;
    const runs = row.status === 'running';
    const focused = actions.contains(document.activeElement);
    put(actions,
      mayWrite() && runs && button('Stop and save', () => act('/stop'), { class: 'strong' }),
      mayWrite() && !runs && run.resumable && button('Resume', () => act('/resume'), { class: 'strong' }),
      link('Search graph', 'graph', id), link('Compare with others', 'compare', { curriculum: row.curriculum }),
      mayWrite() && !runs && (row.deleted ? button('Restore', () => restore(frame, row, load)) : button('Delete', () => remove(frame, row, load), { class: 'plain' })));
    if (focused) (actions.querySelector('button') ?? frame.main).focus();
  }

  function drawHead() {
    const { row } = run;
    put(head, facts([
      ['State', state(row)], ['Method', row.method], ['Seed', String(row.seed)],
      ['Begun', h('time', { title: moment(row.created) }, `${ago(row.created)}, ${moment(row.created)}`)],
      // A run at work says these below, where they are newer.
      ...(row.status === 'running' ? [] : [['Time', duration(row.seconds)], ['Evaluations', count(row.evaluations)], ['Playouts', count(row.playouts)]]),
      ['Stages finished', `${row.stages} of ${Math.max(run.stage_names.length, row.stages)}`],
      ['Deleted', row.deleted ? 'yes; it can be restored' : null],
    ]), run.message && h('div', { class: 'remark bad' }, h('p', { class: 'words' }, run.message)),
    row.status !== 'running' && row.status !== 'done' && !run.resumable && run.why_not && h('p', { class: 'remark' }, `It cannot be resumed: ${run.why_not}`));
  }

  function drawLive() {
    const works = run.row.status === 'running' && live;
    work.hidden = !works;
    put(steps, run.stage_names.length > 0 && stages(run, live, works));
    if (works) {
      speed.hear(live);
      counts.show(run, live, speed);
    }
    const stage = shownStage();
    const led = curves.at(-1)?.leaders?.at(-1);
    const first = run.row.status === 'done' ? null : live?.best ?? led ?? null;
    best.show(first, stage?.leaders?.find((one) => one.program === first?.program)?.terms);
    curve.show(stage);
    const nth = stage?.stage ?? live?.stage ?? run.stages.length - 1;
    const points = live?.stage === nth && live.front.length ? live.front : run.stages[nth]?.front ?? [];
    pareto.show(points);
    pareto.element.parentElement.hidden = !points.length && !works;
    figures.hidden = !curves.length && !live?.front?.length;
  }

  const shownStage = () => curves.find((one) => one.stage === picked) ?? curves.at(-1);

  function drawPick() {
    const options = curves.map((one) => ({ value: String(one.stage), text: `${one.stage + 1}. ${one.name}` }));
    const chosen = String(shownStage()?.stage ?? '');
    const inside = stagePick.querySelector('select');
    if (inside && inside.options.length === options.length) {
      if (document.activeElement !== inside) inside.value = chosen;
      return;
    }
    put(stagePick, options.length > 1 && field('Stage', choice(options, chosen, { onchange: (event) => {
      picked = Number(event.target.value);
      drawLive();
    } })));
  }

  // One request at a time: a browser allows few, and others wait for them.
  async function loadCurves() {
    if (loading) return;
    loading = true;
    try {
      curves = (await get(runPath(id, '/curves'))).stages;
    } catch {
      // An exploration has no curves.
      curves = [];
    }
    loading = false;
    if (closed) return;
    drawPick();
    drawLive();
    // Terms that are still null come with a later answer.
    clearTimeout(later);
    if (curves.some((stage) => stage.leaders.some((one) => one.terms === null))) later = setTimeout(loadCurves, 2000);
  }

  async function load() {
    const fresh = await get(runPath(id));
    if (closed) return;
    run = fresh;
    live = run.live ?? live;
    if (run.row.status !== 'running') live = run.live;
    marked.update(run.row);
    drawHead();
    drawActions();
    done.show(run);
    order();
    await loadCurves();
  }

  // Points between two looks at the curves are made from what the run says of itself.
  function follow(next) {
    const stage = curves.find((one) => one.stage === next.stage);
    const unknown = !stage || (next.best && stage.leaders.at(-1)?.program !== next.best.program);
    if (stage && next.best) stage.points.push({ playouts: next.playouts, evaluations: next.evaluations, unique_states: next.unique_states, visits: 0, best: next.best.reward });
    const moved = live && next.stage !== live.stage;
    live = next;
    if (moved) load().catch(() => {});
    else if (unknown && Date.now() - asked > 1000) {
      asked = Date.now();
      loadCurves();
    }
    drawLive();
  }

  drawHead();
  drawActions();
  done.show(run);
  await loadCurves();
  if (curves.length > 1 && run.row.status === 'done') {
    const holder = h('figure');
    figure(`/api/${runPath(id, '/figures/curves')}`).then((drawn) => {
      put(holder, h('figcaption', null, h('strong', null, 'All stages'), ' as the report draws them.'), drawn);
      figures.append(holder);
    }, () => {});
  }
  return {
    refresh: () => load().catch(() => {}),
    close() {
      closed = true;
      clearTimeout(later);
    },
    heard(kind, data) {
      if (kind === 'live' && data.run === id) {
        if (run.row.status !== 'running') load().catch(() => {});
        follow(data.live);
      }
      const row = kind === 'runs' && data.rows?.find((one) => one.id === id);
      if (!row) return;
      const turned = row.status !== run.row.status || row.stages !== run.row.stages || row.deleted !== run.row.deleted;
      run.row = row;
      marked.update(row);
      drawHead();
      if (turned) load().catch(() => {});
    },
  };
}
