// Numbers as people read them.

const grouped = new Intl.NumberFormat('en');
const NONE = '–';

const isNumber = value => typeof value === 'number' && Number.isFinite(value);

/** A number with about three digits, as rates and axes need it. */
function short(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 0.095) return value.toPrecision(1);
  if (size < 9.95) return value.toFixed(1).replace(/\.0$/, '');
  if (size < 9999.5) return grouped.format(Math.round(value));
  for (const [unit, name] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (size >= unit * 0.9995) {
      const scaled = value / unit;
      return scaled.toFixed(Math.abs(scaled) < 99.5 ? 1 : 0).replace(/\.0$/, '') + name;
    }
  }
  return String(value);
}

/** A count, to the last digit. */
export const count = value => isNumber(value) ? grouped.format(value) : NONE;

/** Something per second. */
export const rate = value => isNumber(value) ? short(value) + '/s' : NONE;

/** A part of one, in percent. */
export function percent(value) {
  if (!isNumber(value)) return NONE;
  const hundred = value * 100;
  if (hundred === 0) return '0 %';
  if (hundred < 0.01) return '< 0.01 %';
  return hundred.toFixed(hundred < 1 ? 2 : hundred < 10 ? 1 : 0).replace(/\.0+$/, '') + ' %';
}

/** An amount of bytes. */
export function bytes(value) {
  if (!isNumber(value)) return NONE;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 999.5 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return (unit > 0 && scaled < 9.95 ? scaled.toFixed(1).replace(/\.0$/, '') : Math.round(scaled)) + ' ' + units[unit];
}

/** Bytes per second. */
export const byteRate = value => isNumber(value) ? bytes(value) + '/s' : NONE;

/** How long something took, from microseconds to minutes. */
export function duration(seconds) {
  if (!isNumber(seconds)) return NONE;
  if (seconds === 0) return '0 ms';
  if (seconds < 0.0009995) return Math.round(seconds * 1e6) + ' µs';
  if (seconds < 0.9995) {
    const millis = seconds * 1e3;
    return (millis < 9.95 ? millis.toFixed(1).replace(/\.0$/, '') : Math.round(millis)) + ' ms';
  }
  if (seconds < 99.5) return (seconds < 9.95 ? seconds.toFixed(1).replace(/\.0$/, '') : Math.round(seconds)) + ' s';
  return age(seconds);
}

/** How long something has been, by its two largest units. */
export function age(seconds) {
  if (!isNumber(seconds)) return NONE;
  const whole = Math.floor(seconds);
  const days = Math.floor(whole / 86400);
  const hours = Math.floor(whole / 3600) % 24;
  const minutes = Math.floor(whole / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

const clock = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit'});
const date = new Intl.DateTimeFormat('en-GB', {day: 'numeric', month: 'short', year: 'numeric'});

/** A moment of today, from milliseconds since 1970. */
export const time = millis => clock.format(millis);

/** A day, from milliseconds since 1970. */
export const day = millis => date.format(millis);

/** "1 endpoint", "2 endpoints". */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
