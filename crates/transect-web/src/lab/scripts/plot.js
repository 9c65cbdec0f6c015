// Common parts of the charts: scales, a row for each method, tooltips.

/** A straight scale from values to pixels. */
function linear([low, high], [from, to]) {
  const scale = (value) => from + ((value - low) / (high - low || 1)) * (to - from);
  scale.range = [from, to];
  scale.ticks = (count) => {
    const raw = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(raw || 1));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? power * 10;
    const ticks = [];
    for (let at = Math.ceil(low / step); at * step <= high * (1 + 1e-9); at += 1) {
      ticks.push(at * step);
    }
    return ticks;
  };
  return scale;
}

/** The numbers that a scale of factors may name, those that people like to read first. */
const ROUND = [1, 2, 5, 3, 7, 1.5, 4, 8, 6, 9];

/** A scale on which equal factors are equally far apart. */
function logarithmic([low, high], range) {
  const inner = linear([Math.log(low), Math.log(high)], range);
  const scale = (value) => inner(Math.log(value));
  scale.range = range;
  scale.ticks = (count) => {
    const least = Math.abs(range[1] - range[0]) / Math.max(1, count) * 0.75;
    const ticks = [];
    for (const step of ROUND) {
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        const tick = step * 10 ** power;
        if (tick < low * 0.999 || tick > high * 1.001) continue;
        if (ticks.every((other) => Math.abs(scale(other) - scale(tick)) > least)) ticks.push(tick);
      }
    }
    return ticks;
  };
  return scale;
}

const tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
/** The tooltip for screen readers. */
const spoken = h('div', { class: 'off-screen', role: 'status', 'aria-live': 'polite' });

/** Shows a tooltip beside a point of the screen: a name, then lines. */
function showTip(x, y, name, lines, speak) {
  tip.replaceChildren(h('strong', {}, named(name)), ...lines.map((line) => h('div', {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(x + 14, room - box.width - 8));
  const top = y - box.height - 14 < 8 ? y + 18 : y - box.height - 14;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
  if (speak) spoken.textContent = [name, ...lines].join(', ');
}

function hideTip() {
  tip.hidden = true;
}

/** Highlights a method in all charts. */
function highlight(name) {
  for (const node of document.querySelectorAll('.hot')) node.classList.remove('hot');
  if (name === null) return;
  for (const node of document.querySelectorAll('[data-method]')) {
    if (node.dataset.method === name) node.classList.add('hot');
  }
}

/** A drawing as wide as its card, with keyboard focus. */
function drawing(host, height, label) {
  const width = Math.max(280, Math.floor(host.clientWidth));
  const svg = s('svg', {
    width, height, viewBox: `0 0 ${width} ${height}`, role: 'group', tabindex: 0,
    'aria-label': `${label}. Arrow keys move between values, Enter shows details.`,
  });
  host.replaceChildren(svg);
  return svg;
}

/** Adds tooltips to the points of a drawing: `rows` of points with `x`, `y` and `lines`. */
function interactive(svg, rows, find) {
  const ring = s('circle', { class: 'ring', r: 6, visibility: 'hidden' });
  svg.append(ring);
  let at = null;
  const show = (row, point, speak) => {
    at = [row, point];
    const { x, y, lines } = rows[row].points[point];
    ring.setAttribute('cx', x);
    ring.setAttribute('cy', y);
    ring.setAttribute('visibility', 'visible');
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    showTip(box.left + x * scale, box.top + y * scale, rows[row].name, lines, speak);
    highlight(rows[row].name);
  };
  const hide = () => {
    ring.setAttribute('visibility', 'hidden');
    hideTip();
    highlight(null);
  };
  const point = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    return find((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  };
  svg.addEventListener('pointermove', (event) => {
    const found = point(event);
    if (found) show(...found, false);
    else hide();
  });
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('blur', hide);
  svg.addEventListener('click', (event) => {
    const found = point(event);
    if (found) openDetail(rows[found[0]].name);
  });
  svg.addEventListener('keydown', (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === 'Escape') return hide();
    if (event.key === 'Enter' && at) return openDetail(rows[at[0]].name);
    const step = steps[event.key];
    if (!step || rows.length === 0) return undefined;
    event.preventDefault();
    const clamp = (value, length) => Math.max(0, Math.min(value, length - 1));
    const row = at ? clamp(at[0] + step[0], rows.length) : 0;
    const column = at ? clamp(at[1] + step[1], rows[row].points.length) : 0;
    return show(row, column, true);
  });
}

/** The nearest of some points, by their distance along the row. */
function nearest(points, x, y) {
  let best = 0;
  const far = (point) => (point.x - x) ** 2 + ((point.y - y) ** 2) / 4;
  points.forEach((point, at) => {
    if (far(point) < far(points[best])) best = at;
  });
  return best;
}

/**
 * A chart with a row for each method: its name at the left, or above if space is short.
 *
 * `scaleFor(range)` returns the scale; `tick` labels its ticks; `draw(row, y, height, scale)` returns
 * `{ nodes, points, value }`: the elements, the points with tooltips, the text at the right.
 */
function rowsChart(host, rows, { label, scaleFor, tick, under, draw, ticks }) {
  const width = Math.max(280, Math.floor(host.clientWidth));
  const narrow = width < 620;
  const longest = Math.max(40, ...rows.map((row) => widthOf(visible(row.cell.name))));
  const left = narrow ? 4 : Math.min(longest + 18, width * 0.3, 300);
  const right = narrow ? 12 : 118;
  const top = 30;
  const each = narrow ? 40 : rows.length > 60 ? 19 : 25;
  const height = top + each * rows.length + 8;
  const svg = drawing(host, height, label);
  const scale = scaleFor([left + 6, width - right]);

  const grid = s('g', { class: 'grid' });
  const room = Math.max(2, Math.floor((width - left - right) / 76));
  for (const value of ticks ? ticks(scale, room) : scale.ticks(room)) {
    const x = scale(value);
    grid.append(
      s('line', { x1: x, x2: x, y1: top - 6, y2: height - 4 }),
      s('text', { x, y: top - 13, 'text-anchor': 'middle' }, tick(value)),
    );
  }
  svg.append(grid);
  if (under) svg.append(...under(scale, top, height - 4));

  const pointed = rows.map((row, at) => {
    const y = top + at * each;
    const [bandTop, band] = narrow ? [y + 18, each - 20] : [y, each];
    const { nodes, points, value } = draw(row, bandTop + band / 2, band, scale);
    const name = shortened(visible(row.cell.name), narrow ? width - 110 : left - 14);
    const text = narrow ? { x: left, y: y + 13 } : { x: left - 6, y: y + each / 2 + 4, 'text-anchor': 'end' };
    svg.append(s('g', { class: `row ${colourOf(row)}`, 'data-method': row.cell.name },
      s('rect', { class: 'band', x: 0, y, width, height: each, rx: 4 }),
      s('text', { ...text, class: 'name' }, name, s('title', {}, visible(row.cell.name))),
      nodes,
      s('text', {
        class: 'value', x: width - 4, y: narrow ? y + 13 : y + each / 2 + 4, 'text-anchor': 'end',
      }, value)));
    return { name: row.cell.name, points };
  });
  interactive(svg, pointed, (x, y) => {
    const row = Math.floor((y - top) / each);
    const points = pointed[row]?.points;
    return points?.length ? [row, nearest(points, x, y)] : null;
  });
}

/** Shows a reason in place of an empty chart. */
function nothing(host, why) {
  host.replaceChildren(h('p', { class: 'nothing' }, why));
}
