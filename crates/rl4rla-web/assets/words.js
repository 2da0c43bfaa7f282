// Numbers and times for people.

/** As the report writes numbers: about three digits. */
export function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e-3 && size < 1e4) return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4).replace('-', '−');
  return power(value, 2);
}

/** A number in powers of ten, with raised digits: 1.2·10⁻⁷. */
export function power(value, digits) {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : value < 0 ? '−∞' : '–';
  const [front, exponent] = value.toExponential(digits).split('e');
  const raised = [...String(Number(exponent))].map((c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c])).join('');
  const factor = front.replace('-', '−');
  return Number(front) === 1 ? `10${raised}` : `${factor}·10${raised}`;
}

/** A short number for axes and settings: 0.5, 20, 10⁶. */
export function short(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    const digits = Number(value.toPrecision(3)).toExponential().split('e')[0].replace(/\D/g, '').length - 1;
    return power(value, digits);
  }
  return String(Number(value.toPrecision(4))).replace('-', '−');
}

/** A whole number with thin spaces between thousands. */
export function count(value) {
  if (value === null || value === undefined) return '–';
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

export function percent(value) {
  return value === null || value === undefined ? '–' : `${Math.round(value * 100)} %`;
}

/** A duration in the unit that suits it. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds > 0 && seconds < 9.95e-4) return `${Number((seconds * 1e6).toPrecision(2))} µs`;
  if (seconds > 0 && seconds < 9.95e-3) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 0.0995) return `${Math.round(seconds * 1e3)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  const hours = Math.floor(seconds / 3600);
  if (hours < 48) return `${hours} h ${Math.round((seconds % 3600) / 60)} min`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

const ABOUT = [[90, 1, 'second'], [5400, 60, 'minute'], [129600, 3600, 'hour'], [Infinity, 86400, 'day']];

/** An estimate of a duration in words: about 34 minutes. */
export function roughly(seconds) {
  if (seconds < 10) return 'a few seconds';
  const [, unit, name] = ABOUT.find(([limit]) => seconds < limit);
  return `about ${several(Math.round(seconds / unit), name)}`;
}

const AGO = [[60, 1, 'second'], [3600, 60, 'minute'], [86400, 3600, 'hour'], [2592000, 86400, 'day'], [31536000, 2592000, 'month'], [Infinity, 31536000, 'year']];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** A time since 1970 in words: 3 hours ago. */
export function ago(time) {
  const past = Math.max(0, Date.now() / 1000 - time);
  if (past < 5) return 'just now';
  const [, unit, name] = AGO.find(([limit]) => past < limit);
  return relative.format(-Math.floor(past / unit), name);
}

/** The same time in full, in the reader's own zone. */
export function moment(time) {
  return new Date(time * 1000).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

/** "1 run", "2 runs". */
export function several(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}
