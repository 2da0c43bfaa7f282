// What may be typed at a place of a curriculum file.

const NAMED = { kind: 'families', target: 'programs', start: 'programs', operators: 'operators', file: null };
const TABLES = { family: 'family', reward: 'reward', instances: 'instances', conditions: 'family' };

/** The line up to the caret, and the section it is in: `file` or `stage`. */
function surroundings(text, caret) {
  const before = text.slice(0, caret);
  const start = before.lastIndexOf('\n') + 1;
  const line = before.slice(start);
  let where = 'file';
  let fenced = false;
  let open = null; // a list over several lines, by the key before it
  for (const one of before.slice(0, start).split('\n')) {
    if ((one.match(/'''|"""/g) ?? []).length % 2) fenced = !fenced;
    if (fenced) continue;
    const head = /^\s*\[\[?\s*([\w-]+)/.exec(one);
    if (head && !open) where = head[1] === 'stage' || head[1] === 'defaults' ? 'stage' : 'file';
    const list = /^\s*([\w-]+)\s*=\s*\[[^\]]*$/.exec(one);
    if (list) open = list[1];
    else if (open && one.includes(']')) open = null;
  }
  return { line, where, fenced, open };
}

/**
 * What fits at the caret: `from` where the word begins, and `items` of {text, about, insert}.
 * `lists` is the answer of /api/lists.
 */
export function complete(text, caret, lists) {
  const { line, where, fenced, open } = surroundings(text, caret);
  const word = /[\w./-]*$/.exec(line)[0];
  const from = caret - word.length;
  const before = line.slice(0, line.length - word.length);
  const fits = (items) => ({ from, word, items: items.filter((item) => item.text.toLowerCase().includes(word.toLowerCase()) && item.text !== word)
    .sort((a, b) => b.text.startsWith(word) - a.text.startsWith(word)).slice(0, 40) });
  const nothing = { from, word, items: [] };
  if (/^\s*#/.test(line)) return nothing;
  // Inside of a program only operators have names.
  if (fenced || /'''/.test(before)) return /=\s*$/.test(before) ? fits(lists.operators.map((one) => ({ text: one.name, about: one.about, insert: `${one.name}(` }))) : nothing;
  const quoted = (before.match(/"/g) ?? []).length % 2 === 1;
  const table = /([\w-]+)\s*=\s*\[?\s*\{[^}]*$/.exec(before)?.[1];
  const place = TABLES[table] ?? (open && TABLES[open]) ?? where;
  const key = /([\w-]+)\s*=\s*\[?\s*(?:"[^"]*"\s*,\s*)*"?$/.exec(before)?.[1] ?? (open && !table ? open : null);
  if (key) {
    const known = lists.keys.find((one) => one.key === key && one.where === place) ?? lists.keys.find((one) => one.key === key);
    const names = NAMED[key] && lists[NAMED[key]]?.map((one) => ({ text: one.name, about: one.about }));
    const values = names ?? (known?.values ?? []).map((value) => ({ text: value, about: known.about }));
    const bare = (value) => /^(true|false|[\d.e+-]+)$/.test(value);
    return fits(values.filter((item) => quoted ? !bare(item.text) : true).map((item) => ({ ...item, insert: quoted || bare(item.text) ? item.text : `"${item.text}"` })));
  }
  if (quoted) return nothing;
  if (/^\s*\[+\s*$/.test(before)) return fits(['[stage]]', 'defaults]'].map((name) => ({ text: name, about: 'section', insert: name })));
  if (!/^\s*$/.test(before) && !/[{,]\s*$/.test(before)) return nothing;
  const taken = table ? before.slice(before.lastIndexOf('{')) : '';
  return fits(lists.keys.filter((one) => one.where === place && !new RegExp(`\\b${one.key}\\s*=`).test(taken)).map((one) => ({ text: one.key, about: one.about, insert: `${one.key} = ` })));
}
