// Human-readable numbers.

/** Three significant digits. */
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** 1.23 s, 45.6 ms. */
function duration(nanoseconds) {
  for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
    if (nanoseconds >= size * 0.9995) return `${digits(nanoseconds / size)} ${unit}`;
  }
  return `${nanoseconds === 0 ? 0 : digits(nanoseconds)} ns`;
}

/** 7 ms, 1.5 s: a round time for an axis. */
function roundTime(nanoseconds) {
  if (nanoseconds === 0) return '0';
  return duration(nanoseconds).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ');
}

/** 1.50 MiB. */
function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  while (count >= 1023.5 && unit + 1 < units.length) {
    count /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? count.toFixed(0) : digits(count)} ${units[unit]}`;
}

/** 16 KiB: a round size for an axis. */
function roundBytes(count) {
  return bytes(count).replace(/\.0+ /, ' ');
}

/** 1,234,567. */
function whole(count) {
  return Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/** 0.41 ns: a time per unit, which may be less than a nanosecond. */
function each(nanoseconds) {
  return nanoseconds > 0 && nanoseconds < 1 ? `${nanoseconds.toPrecision(2)} ns` : duration(nanoseconds);
}

/** 1.2 M: a short rate. */
function short(count) {
  for (const [unit, size] of [[' G', 1e9], [' M', 1e6], [' k', 1e3]]) {
    if (count >= size) return digits(count / size) + unit;
  }
  return digits(count);
}

/** 1.52. */
function ratio(value) {
  return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** 1.52 (1.49 to 1.60); one round has no interval. */
function interval(ratios) {
  if (ratios.n < 2) return ratio(ratios.median);
  return `${ratio(ratios.median)} (${ratio(ratios.low)} to ${ratio(ratios.high)})`;
}

/** 0.8 %. */
function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** 2023-11-15 12:00 UTC. */
function date(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
}

/** 1 round, 2 rounds. */
function counted(count, one, many) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}
