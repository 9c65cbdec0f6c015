// Every sample as a dot.

function samplesCard() {
  const { section, body } = card('samples', 'Every sample',
    'Each dot is one round, from the first (top of the row) to the last (bottom). Tick: median. Bar: '
    + 'median absolute deviation. Thin line: minimum to maximum. Rings: outliers, which are not dropped.');
  const controls = section.querySelector('.controls');
  return {
    section,
    draw() {
      const rows = shown();
      controls.replaceChildren();
      if (rows.length === 0) return nothing(body, emptyReason());
      const low = Math.min(...rows.map((row) => row.time.min));
      const high = Math.max(...rows.map((row) => row.time.max));
      const isWide = low > 0 && high > 10 * low;
      const scale = isWide ? view.scale ?? 'log' : 'linear';
      if (isWide) {
        controls.append(choice('Scale', [['linear', 'linear'], ['log', 'log']], scale, (value) => {
          view.scale = value;
          redraw();
        }));
      }
      return rowsChart(body, rows, {
        label: 'Time of each round by method',
        scaleFor: (range) => (scale === 'log'
          ? logarithmic([low * 0.92, high * 1.05], range)
          : linear([0, high * 1.03], range)),
        tick: roundTime,
        under: floorLines,
        draw: samplesOf,
      });
    },
  };
}

/** Lines at the medians of the floors. */
function floorLines(scale, top, bottom) {
  return ranking().rows.filter((row) => isFloor(row.cell.name)).map((row) => {
    const x = scale(row.time.median);
    return s('g', { class: 'floor-line' },
      s('line', { x1: x, x2: x, y1: top - 4, y2: bottom }),
      s('title', {}, `${row.cell.name}: ${duration(row.time.median)}`));
  });
}

function samplesOf(row, middle, height, scale) {
  const { time } = row;
  const last = Math.max(1, session.rounds - 1);
  const spread = Math.min(height * 0.56, 16);
  const outliers = new Set(row.outliers);
  const points = row.samples.map((sample, at) => ({
    x: scale(sample),
    y: middle + (row.rounds[at] / last - 0.5) * (session.rounds > 1 ? spread : 0),
    lines: [
      `round ${row.rounds[at] + 1}: ${duration(sample)}${outliers.has(at) ? ', outlier' : ''}`,
      `median ${duration(time.median)}, MAD ${percent(time.mad / time.median)}`,
      `${duration(time.min)} to ${duration(time.max)}, n = ${time.n}`,
    ],
  }));
  const [from, to] = [scale(time.min), scale(time.max)];
  const low = scale(Math.max(time.min, time.median - time.mad));
  const high = scale(time.median + time.mad);
  const median = scale(time.median);
  const nodes = [
    s('line', { class: 'range', x1: from, x2: to, y1: middle, y2: middle }),
    s('rect', { class: 'mad', x: low, y: middle - 4, width: Math.max(1, high - low), height: 8, rx: 2 }),
    points.map(({ x, y }, at) => s('circle', {
      class: outliers.has(at) ? 'dot out' : 'dot', cx: x, cy: y, r: 2.8,
    })),
    s('line', { class: 'median', x1: median, x2: median, y1: middle - height * 0.36, y2: middle + height * 0.36 }),
  ].flat();
  return { nodes, points, value: duration(time.median) };
}
