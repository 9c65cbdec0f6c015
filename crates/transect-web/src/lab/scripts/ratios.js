// Ratios within rounds, with their intervals.

function ratiosCard() {
  const { section, body } = card('ratios', 'Ratios and confidence',
    'Median of the ratios within each round, with its 95 % interval. Differences inside the band '
    + 'around 1 do not count.');
  const controls = section.querySelector('.controls');
  return {
    section,
    draw() {
      const hasFloor = ranking().rows.some((row) => row.to_floor);
      const against = hasFloor ? view.against : 'base';
      controls.replaceChildren();
      if (hasFloor) {
        const options = [['base', '× base'], ['floor', '× floor']];
        controls.append(choice('Compared with', options, against, (value) => {
          view.against = value;
          redraw();
        }));
      }
      const of = (row) => ratiosOf(row, against);
      const rows = shown().filter(of);
      if (rows.length === 0) return nothing(body, 'Nothing to compare.');
      const low = Math.min(0.93, ...rows.map((row) => of(row).low));
      const high = Math.max(1.07, ...rows.map((row) => of(row).high));
      return rowsChart(body, rows, {
        label: `Ratios to the ${against} by method`,
        scaleFor: (range) => logarithmic([low * 0.97, high * 1.04], range),
        ticks: ratioTicks,
        tick: (value) => `${value}×`,
        under: (scale, top, bottom) => band(scale, top, bottom, against),
        draw: (row, middle, height, scale) => barOf(of(row), middle, height, scale),
      });
    },
  };
}

/** The ratios of a row; for the repeated base, its noise. */
function ratiosOf(row, against) {
  if (against === 'floor') return isFloor(row.cell.name) ? null : row.to_floor;
  return row.cell.name === session.again ? ranking().noise : row.to_base;
}

const RATIOS = [1, 2, 0.5, 5, 0.2, 10, 0.1, 20, 50, 100, 1.5, 0.8, 3, 1.2, 0.9, 1.1, 7, 4, 30, 0.7,
  0.6, 0.3, 0.4, 15, 200, 500, 1000, 0.05, 0.02, 0.01, 1.05, 0.95, 1.3, 1.4];

/** As many round ratios as fit, the roundest first; always with 1. */
function ratioTicks(scale) {
  const [from, to] = scale.range;
  const taken = [];
  for (const value of RATIOS) {
    const x = scale(value);
    if (x < from || x > to) continue;
    if (taken.every((other) => Math.abs(scale(other) - x) > 44)) taken.push(value);
  }
  return taken;
}

/** The line at 1, and the band in which differences do not count. */
function band(scale, top, bottom, against) {
  const one = scale(1);
  const nodes = [s('line', { class: 'one', x1: one, x2: one, y1: top - 6, y2: bottom })];
  const judged = ranking().rows.find((row) => row.judgement);
  if (against === 'base' && judged) {
    const { threshold } = judged.judgement;
    const [low, high] = [scale(1 - threshold), scale(1 + threshold)];
    nodes.unshift(s('rect', {
      class: 'threshold', x: low, y: top - 6, width: high - low, height: bottom - top + 6,
    }));
  }
  return nodes;
}

function barOf(ratios, middle, height, scale) {
  const [one, median, low, high] = [1, ratios.median, ratios.low, ratios.high].map(scale);
  const half = Math.min(7, height * 0.3);
  const nodes = [
    s('rect', {
      class: 'bar', x: Math.min(one, median), y: middle - half,
      width: Math.max(1, Math.abs(median - one)), height: 2 * half, rx: 2,
    }),
    s('path', {
      class: 'whisker',
      d: `M${low} ${middle}H${high}M${low} ${middle - 4}v8M${high} ${middle - 4}v8`,
    }),
    s('circle', { class: 'middle', cx: median, cy: middle, r: 3 }),
  ];
  const lines = [
    `${ratio(ratios.median)} times, 95 %: ${ratio(ratios.low)} to ${ratio(ratios.high)}`,
    `${counted(ratios.n, 'round', 'rounds')}, p = ${ratios.p.toPrecision(2)} before correction`,
  ];
  return { nodes, points: [{ x: median, y: middle, lines }], value: `${ratio(ratios.median)}×` };
}
