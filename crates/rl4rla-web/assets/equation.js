// Equations, typeset from their Unicode text: raised and lowered signs, italic names, upright words and operators.
import { h } from './dom.js';

const RAISED = { '⁰': '0', '¹': '1', '²': '2', '³': '3', '⁴': '4', '⁵': '5', '⁶': '6', '⁷': '7', '⁸': '8', '⁹': '9', '⁺': '+', '⁻': '−', '⁼': '=', '⁽': '(', '⁾': ')', 'ᵀ': '⊤', 'ᵏ': 'k', 'ⁿ': 'n', 'ⁱ': 'i', 'ᵗ': 't', 'ᵐ': 'm' };
const LOWERED = { '₀': '0', '₁': '1', '₂': '2', '₃': '3', '₄': '4', '₅': '5', '₆': '6', '₇': '7', '₈': '8', '₉': '9', '₊': '+', '₋': '−', '₌': '=', '₍': '(', '₎': ')', 'ₐ': 'a', 'ₑ': 'e', 'ₒ': 'o', 'ₓ': 'x', 'ₕ': 'h', 'ₖ': 'k', 'ₗ': 'l', 'ₘ': 'm', 'ₙ': 'n', 'ₚ': 'p', 'ₛ': 's', 'ₜ': 't', 'ᵢ': 'i', 'ⱼ': 'j', 'ᵣ': 'r' };
const LETTER = /[A-Za-z\u0370-\u03ff]/;
// Symbols with a number, such as the registers u1 and v2.
const NUMBERED = /^([A-Za-z])(\d+)$/;

/** Runs of raised, lowered and plain signs. */
function runs(text) {
  const found = [];
  for (const sign of text) {
    const kind = sign in RAISED ? 'sup' : sign in LOWERED ? 'sub' : 'plain';
    const same = found.at(-1);
    const plain = RAISED[sign] ?? LOWERED[sign] ?? sign;
    if (same?.kind === kind) same.text += plain;
    else found.push({ kind, text: plain });
  }
  return found;
}

/** Words upright, single letters italic; an article before a word is a word. */
function letters(text, prose) {
  const parts = text.match(/[A-Za-z\u0370-\u03ff][A-Za-z\u0370-\u03ff\d_-]*|[^A-Za-z\u0370-\u03ff]+/g) ?? [];
  return parts.map((part, place) => {
    const numbered = NUMBERED.exec(part);
    if (numbered) return [h('i', null, numbered[1]), h('sub', null, numbered[2])];
    const article = prose && part === 'a' && /^ $/.test(parts[place + 1] ?? '') && /^[a-z]{2}/.test(parts[place + 2] ?? '');
    return part.length === 1 && LETTER.test(part) && !article ? h('i', null, part) : part;
  });
}

// A formula is only broken before an operator or after a comma, and never before a raised or lowered sign.
const whole = (text) => text.replace(/(?<![,;]) (?![=−+←])/g, '\u00a0');

function typeset(text, prose) {
  return runs(prose ? text : whole(text)).map(({ kind, text: run }) => (kind === 'plain' ? letters(run, prose) : ['\u2060', h(kind, null, letters(run))]));
}

/** The formula alone, in a line. */
export function formula(text) {
  return h('span', { class: 'formula' }, typeset(text.split(', where ')[0], false));
}

/** An equation with the meaning of its symbols below. */
export function equation(text) {
  if (!text) return null;
  const [front, ...rest] = text.split(', where ');
  const meaning = rest.join(', where ');
  return [
    h('p', { class: 'equation', tabindex: 0 }, typeset(front, false)),
    meaning && h('p', { class: 'where' }, 'where ', typeset(meaning, true)),
  ];
}
