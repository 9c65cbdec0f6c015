// The details of one method.

const dialog = h('dialog', { class: 'detail', 'aria-labelledby': 'detail-title' });
// A click outside closes it.
dialog.addEventListener('click', (event) => {
  if (event.target === dialog) dialog.close();
});

function fact(what, is) {
  return h('div', {}, h('dt', {}, what), h('dd', {}, is));
}

/** Opens the details of a method. */
function openDetail(name) {
  hideTip();
  const row = [...ranking().rows, ...ranking().apart].find(({ cell }) => cell.name === name);
  const cell = row?.cell ?? session.cells.find((known) => known.name === name);
  const unranked = ranking().unranked.find((other) => other.cell === name);
  if (!cell) return;
  const about = [
    cell.language,
    cell.kind,
    cell.parallel ? 'several threads' : 'one thread',
  ].join(' · ');
  const close = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', click: () => dialog.close() }, '✕');
  const facts = h('dl', { class: 'facts' }, row ? factsOf(row) : fact('not ranked', named(unranked?.reason ?? '')));
  const plot = h('div', { class: 'by-round' });
  dialog.replaceChildren(
    h('header', {}, h('div', {}, h('h2', { id: 'detail-title' }, named(name)), h('p', { class: 'about' }, about)), close),
    plot, facts, row ? samplesTable(row) : '');
  dialog.showModal();
  if (row) drawByRound(plot, row);
}

function factsOf(row) {
  const { time, cell } = row;
  const units = unitsOf(place());
  const known = (what, value, of) => (typeof value === 'number' ? fact(what, of(value)) : []);
  return [
    fact('verdict', h('span', { class: `badge v-${verdictOf(row)}` }, verdictInWords(row))),
    fact('median', duration(time.median)),
    fact('min to max', `${duration(time.min)} to ${duration(time.max)}`),
    fact('mean', duration(time.mean)),
    fact('MAD', `${duration(time.mad)}, ${percent(time.mad / time.median)}`),
    row.to_base ? fact('× base', interval(row.to_base)) : [],
    row.to_floor ? fact('× floor', interval(row.to_floor)) : [],
    fact('× slowest', `${ratio(row.against_the_slowest)} times as fast`),
    row.judgement ? fact('p, corrected', row.judgement.adjusted_p.toPrecision(2)) : [],
    row.judgement?.more_rounds ? fact('needs about', counted(row.judgement.more_rounds, 'more round', 'more rounds')) : [],
    fact(`per ${UNIT}`, each(time.median / units)),
    isOfFiles ? fact('bytes per second', short(place().expected.bytes / (time.median / 1e9))) : [],
    fact('wall, process', duration(row.wall_ns)),
    fact('user', duration(row.user_ns)),
    fact('system', duration(row.system_ns)),
    known('cores used', row.cores, (cores) => `${cores.toFixed(2)} of ${session.environment.cores}`),
    row.peak_memory ? fact('memory', bytes(row.peak_memory)) : [],
    cell.code ? fact('code of its contender', counted(cell.code.lines, 'line', 'lines')) : [],
    isOfFiles ? [
      known('faults', row.faults, whole),
      known('switches', row.switches, whole),
      known('unwritten at end', row.unwritten, bytes),
      known('read from devices', row.device_read, bytes),
      known('queued for devices', row.device_written, bytes),
    ].flat() : [],
    row.accesses ? fact('system calls', `${whole(row.accesses.calls)}: ${KINDS.map(([, word, of]) => `${whole(of(row.accesses))} ${word}`).join(', ')} on ${counted(row.accesses.entries, ...CALLER)}`) : [],
    row.calls ? fact('time in calls', `${TIMES.map(([, word, of]) => `${word} ${duration(of(row.calls))}`).join(', ')} on ${counted(row.calls.threads, 'thread', 'threads')}`) : [],
    cell.kind === 'peer' ? fact('its time', 'of the whole process, with start and output') : [],
  ].flat();
}

/** Draws the samples in the order in which they were taken. */
function drawByRound(host, row) {
  const width = Math.max(240, Math.floor(host.clientWidth));
  const [height, left, right] = [130, 58, 10];
  const svg = s('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Times by round' });
  const x = linear([0, Math.max(1, session.rounds - 1)], [left + 8, width - right - 8]);
  const { min, max } = row.time;
  const room = (max - min || max * 0.1) * 0.15;
  const y = linear([Math.max(0, min - room), max + room], [height - 22, 8]);
  const grid = s('g', { class: 'grid' });
  for (const value of y.ticks(4)) {
    grid.append(s('line', { x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      s('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, roundTime(value)));
  }
  grid.append(s('text', { x: left + 8, y: height - 4, 'text-anchor': 'start' }, 'round 1'),
    s('text', { x: width - right, y: height - 4, 'text-anchor': 'end' }, `round ${session.rounds}`));
  const outliers = new Set(row.outliers);
  svg.append(grid, s('g', { class: `row ${colourOf(row)}` },
    s('line', { class: 'range', x1: left, x2: width - right, y1: y(row.time.median), y2: y(row.time.median) }),
    row.samples.map((sample, at) => s('circle', {
      class: outliers.has(at) ? 'dot out' : 'dot', cx: x(row.rounds[at]), cy: y(sample), r: 3.5,
    }, s('title', {}, `round ${row.rounds[at] + 1}: ${duration(sample)}`)))));
  host.replaceChildren(svg);
}

function samplesTable(row) {
  const outliers = new Set(row.outliers);
  return h('details', {}, h('summary', {}, `All ${row.samples.length} samples`),
    h('ol', { class: 'samples' }, row.samples.map((sample, at) => (
      h('li', { class: outliers.has(at) ? 'out' : null, value: row.rounds[at] + 1 }, `${whole(sample)} ns`)))));
}
