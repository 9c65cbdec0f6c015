// Human-readable numbers.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** 1.50 GiB: three significant digits. */
function bytes(size) {
  let value = size;
  let unit = 0;
  // 1023.5 would be shown as 1024.
  while (value >= 1023.5 && unit + 1 < UNITS.length) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** 1,234,567. */
function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

function counted(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Small shares are not shown as 0%, nor large ones as 100%. */
function percent(share) {
  if (!(share > 0)) return '0%';
  if (share < 0.001) return '<0.1%';
  const value = 100 * share;
  if (share < 1 && value > 99.9) return '>99.9%';
  return `${value >= 99.95 ? 100 : value.toFixed(1)}%`;
}

/** 2026-11-21, or a description if the calendar has no such day. */
function day(seconds) {
  if (Number.isNaN(seconds)) return 'unknown';
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return seconds < 0 ? 'long ago' : 'far future';
  return date.toISOString().replace(/T.*/, '');
}
