// What becomes of a method as the tree grows.

/** How many methods are drawn until somebody asks for all. */
const AT_FIRST = 8;
/** With more lines than that, none has its name beside it: who points at one is told. */
const MANY = 24;

function scalingCard() {
  const { section, body } = card('scaling', 'As the tree grows',
    'Medians over the number of entries. A method that costs the same for each entry is a level '
    + 'line.');
  const controls = section.querySelector('.controls');
  return {
    section,
    draw() {
      const sizes = new Set(session.places.map(entriesOf));
      section.hidden = sizes.size < 2;
      if (section.hidden) return;
      controls.replaceChildren(
        choice('Cost', [['entry', 'per entry'], ['walk', 'per walk']], view.cost, (value) => {
          view.cost = value;
          redraw();
        }),
        choice('Methods', [['top', `first ${AT_FIRST}`], ['all', 'all']], view.every ? 'all' : 'top', (value) => {
          view.every = value === 'all';
          redraw();
        }),
      );
      drawScaling(body);
    },
  };
}

/** The methods as lines: a point for each place where they were ranked, the smallest place first. */
function linesOfScaling() {
  const places = session.places.map((there, at) => ({ at, entries: entriesOf(there), name: there.name }));
  places.sort((a, b) => a.entries - b.entries);
  const rankings = places.map(({ at }) => report.rankings[at * passes + view.pass]);
  // In the order of the largest place.
  const names = [...rankings].reverse().flatMap((of) => of.rows.map((row) => row.cell.name));
  const lines = [...new Set(names)].map((name) => {
    const points = places.flatMap(({ entries, name: there }, at) => {
      const row = rankings[at].rows.find(({ cell }) => cell.name === name);
      if (!row) return [];
      const cost = view.cost === 'entry' ? row.time.median / entries : row.time.median;
      return [{ row, entries, cost, there }];
    });
    return { name, row: points[points.length - 1].row, points };
  });
  return lines.filter(({ name, row }) => (
    name !== session.again && passesFilter(row.cell, verdictOf(row))));
}

/** Few lines are told apart by colours of their own; base and floors keep theirs. */
function colourOfLine({ name, row }, at) {
  const isOther = isFloor(name) || name === session.base;
  return isOther || view.every || view.colour === 'language' ? colourOf(row) : `l${at % 12}`;
}

function drawScaling(body) {
  const all = linesOfScaling();
  const isFirst = ({ name }, at) => at < AT_FIRST || isFloor(name) || name === session.base;
  const lines = view.every ? all : all.filter(isFirst);
  if (lines.length === 0) return nothing(body, nobody());
  const width = Math.max(280, Math.floor(body.clientWidth));
  const narrow = width < 620;
  const [left, right, top, height] = [64, narrow ? 14 : lines.length > MANY ? 20 : Math.min(260, width * 0.3), 14, narrow ? 300 : 400];
  const svg = drawing(body, height, 'Cost over the number of entries by method');
  const points = lines.flatMap((line) => line.points);
  const range = (of, below, above) => [
    Math.min(...points.map(of)) * below, Math.max(...points.map(of)) * above];
  const x = logarithmic(range((point) => point.entries, 0.93, 1.07), [left, width - right]);
  const y = logarithmic(range((point) => point.cost, 0.85, 1.15), [height - 34, top]);

  const grid = s('g', { class: 'grid' });
  for (const value of y.ticks(7)) {
    grid.append(
      s('line', { x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      s('text', { x: left - 8, y: y(value) + 4, 'text-anchor': 'end' }, roundTime(value)));
  }
  let last = -Infinity;
  for (const there of [...session.places].sort((a, b) => entriesOf(a) - entriesOf(b))) {
    const at = x(entriesOf(there));
    grid.append(s('line', { x1: at, x2: at, y1: top, y2: height - 30 }));
    if (at - last < 56) continue;
    last = at;
    grid.append(s('text', { x: at, y: height - 14, 'text-anchor': 'middle' },
      whole(entriesOf(there)), s('title', {}, visible(there.name))));
  }
  svg.append(grid);

  const labels = lines.map((line) => ({ line, y: y(line.points[line.points.length - 1].cost) + 4 }));
  apart(labels, 15, top + 4, height - 30);
  const pointed = lines.map((line, at) => {
    const places = line.points.map((point) => ({
      x: x(point.entries),
      y: y(point.cost),
      lines: [
        `${visible(point.there)}: ${whole(point.entries)} entries`,
        `${duration(point.row.time.median / point.entries)} per entry, ${duration(point.row.time.median)} per walk`,
      ],
    }));
    const name = shortened(visible(line.name), right - 38);
    const end = places[places.length - 1];
    svg.append(s('g', { class: `line ${colourOfLine(line, at)}`, 'data-method': line.name },
      s('path', { d: `M${places.map((point) => `${point.x} ${point.y}`).join('L')}` }),
      places.map((point) => s('circle', { cx: point.x, cy: point.y, r: 3.5 })),
      narrow || lines.length > MANY ? null : s('line', {
        class: 'leader', x1: end.x + 6, y1: end.y, x2: width - right + 30, y2: labels[at].y - 4,
      }),
      narrow || lines.length > MANY ? null
        : s('text', { class: 'name', x: width - right + 34, y: labels[at].y }, name, s('title', {}, visible(line.name)))));
    return { name: line.name, points: places };
  });
  interactive(svg, pointed, (atX, atY) => {
    let best = null;
    let distance = 40 ** 2;
    pointed.forEach(({ points: of }, row) => of.forEach((point, column) => {
      const far = (point.x - atX) ** 2 + (point.y - atY) ** 2;
      if (far < distance) [best, distance] = [[row, column], far];
    }));
    return best;
  });
  svg.classList.toggle('many', lines.length > MANY);
  if (narrow && lines.length <= MANY) {
    body.append(h('ul', { class: 'legend chips' }, lines.map(({ name, row }, at) => (
      h('li', { 'data-method': name, class: colourOfLine({ name, row }, at), pointerenter: () => highlight(name), pointerleave: () => highlight(null) },
        h('span', { class: 'swatch' }), named(name))))));
  }
  return undefined;
}

/** Moves labels so that none lies on another. */
function apart(labels, least, top, bottom) {
  const sorted = [...labels].sort((a, b) => a.y - b.y);
  let above = top - least;
  for (const label of sorted) {
    label.y = Math.max(label.y, above + least);
    above = label.y;
  }
  let below = bottom + least;
  for (const label of sorted.reverse()) {
    label.y = Math.min(label.y, below - least);
    below = label.y;
  }
}
