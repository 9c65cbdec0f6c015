// Cost by dataset size and by block size.

/** The number of methods drawn until the user selects all. */
const AT_FIRST = 8;

function scalingCard() {
  return linesCard({
    id: 'scaling',
    title: isOfQuestions ? 'By number of questions' : isOfFiles ? 'By file size' : 'By tree size',
    about: `Medians by number of ${UNITS}. A constant cost per ${UNIT} is a horizontal line.`,
    label: `Cost by number of ${UNITS} and method`,
    all: linesOfScaling,
    ticks: () => session.places.map((there) => ({ value: unitsOf(there), text: UNIT === 'byte' ? roundBytes(unitsOf(there)) : whole(unitsOf(there)), title: there.name })),
  });
}

function blocksCard() {
  const blocks = [...new Set(session.cells.map((cell) => blockOf(cell)?.block).filter(Boolean))];
  return linesCard({
    id: 'blocks',
    title: 'By block size',
    about: 'Medians by the number of bytes read and written at once. Methods without a block size and floors '
      + 'are horizontal lines.',
    label: 'Cost by block size and method',
    all: () => linesOfBlocks(blocks),
    ticks: () => blocks.map((block) => ({ value: block, text: roundBytes(block), title: `blocks of ${roundBytes(block)}` })),
  });
}

/** A card of lines; hidden unless there are at least two values on the axis. */
function linesCard({ id, title, about, label, all, ticks }) {
  const { section, body } = card(id, title, about);
  const controls = section.querySelector('.controls');
  return {
    section,
    draw() {
      section.hidden = new Set(ticks().map(({ value }) => value)).size < 2;
      if (section.hidden) return;
      controls.replaceChildren(
        choice('Cost', [['unit', `per ${UNIT}`], ['run', `per ${RUN[0]}`]], view.cost, (value) => {
          view.cost = value;
          redraw();
        }),
        choice('Methods', [['top', `first ${AT_FIRST}`], ['all', 'all']], view.every ? 'all' : 'top', (value) => {
          view.every = value === 'all';
          redraw();
        }),
      );
      const found = all().filter(({ name, row }) => (
        name !== session.again && passesFilter(row.cell, verdictOf(row))));
      const isOther = ({ name }) => isFloor(name) || name === session.base;
      const first = new Set(found.filter((line) => !isOther(line)).slice(0, AT_FIRST));
      drawLines(body, view.every ? found : found.filter((line) => isOther(line) || first.has(line)), label, ticks());
    },
  };
}

/** The cost of a row in a dataset, and its description. */
function costOf(row, there) {
  const units = unitsOf(there);
  return {
    cost: view.cost === 'unit' ? row.time.median / units : row.time.median,
    said: `${each(row.time.median / units)} per ${UNIT}, ${duration(row.time.median)} per ${RUN[0]}`,
  };
}

/** The methods as lines: a point for each place where they were ranked, the smallest place first. */
function linesOfScaling() {
  const places = session.places.map((there, at) => ({ at, there }));
  places.sort((a, b) => unitsOf(a.there) - unitsOf(b.there));
  const rankings = places.map(({ at }) => report.rankings[at * passes + view.pass]);
  // In the order of the largest place.
  const names = [...rankings].reverse().flatMap((of) => of.rows.map((row) => row.cell.name));
  return [...new Set(names)].map((name) => {
    const points = places.flatMap(({ there }, at) => {
      const row = rankings[at].rows.find(({ cell }) => cell.name === name);
      if (!row) return [];
      const { cost, said } = costOf(row, there);
      return [{ row, value: unitsOf(there), cost, lines: [`${visible(there.name)}: ${amount(unitsOf(there))}`, said] }];
    });
    return { name, row: points[points.length - 1].row, points };
  });
}

/** The methods as lines: a point for each block size, or a horizontal line without one. */
function linesOfBlocks(blocks) {
  const lines = new Map();
  for (const row of ranking().rows) {
    const taken = blockOf(row.cell);
    // A method may run both with a given block size and with its own choice.
    const name = taken ? `${taken.rest} with a block` : row.cell.name;
    if (!lines.has(name)) lines.set(name, { name, row, points: [] });
    const { cost, said } = costOf(row, place());
    for (const value of taken ? [taken.block] : [Math.min(...blocks), Math.max(...blocks)]) {
      const block = taken ? `blocks of ${roundBytes(value)}` : 'its own block size, or none';
      lines.get(name).points.push({ row, value, cost, lines: [block, said] });
    }
  }
  const all = [...lines.values()];
  all.forEach(({ points }) => points.sort((a, b) => a.value - b.value));
  return all;
}

/** A few lines get distinct colours; base and floors keep theirs. */
function colourOfLine({ name, row }, at) {
  const isOther = isFloor(name) || row.cell.name === session.base;
  return isOther || view.every || view.colour === 'language' ? colourOf(row) : `l${at % 12}`;
}

/** With more lines than this, names appear only in tooltips. */
const MANY = 24;

function drawLines(body, lines, label, along) {
  if (lines.length === 0) return nothing(body, emptyReason());
  const width = Math.max(280, Math.floor(body.clientWidth));
  const narrow = width < 620;
  const [left, right, top, height] = [64, narrow ? 14 : lines.length > MANY ? 20 : Math.min(260, width * 0.3), 14, narrow ? 300 : 400];
  const svg = drawing(body, height, label);
  const points = lines.flatMap((line) => line.points);
  const range = (of, below, above) => [
    Math.min(...points.map(of)) * below, Math.max(...points.map(of)) * above];
  const x = logarithmic(range((point) => point.value, 0.93, 1.07), [left, width - right]);
  const y = logarithmic(range((point) => point.cost, 0.85, 1.15), [height - 34, top]);

  const grid = s('g', { class: 'grid' });
  for (const value of y.ticks(7)) {
    grid.append(
      s('line', { x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      s('text', { x: left - 8, y: y(value) + 4, 'text-anchor': 'end' }, value < 1 ? each(value) : roundTime(value)));
  }
  let last = -Infinity;
  for (const { value, text, title } of along.sort((a, b) => a.value - b.value)) {
    const at = x(value);
    grid.append(s('line', { x1: at, x2: at, y1: top, y2: height - 30 }));
    if (at - last < 56) continue;
    last = at;
    grid.append(s('text', { x: at, y: height - 14, 'text-anchor': 'middle' }, text, s('title', {}, visible(title))));
  }
  svg.append(grid);

  const labels = lines.map((line) => ({ line, y: y(line.points[line.points.length - 1].cost) + 4 }));
  apart(labels, 15, top + 4, height - 30);
  const pointed = lines.map((line, at) => {
    const places = line.points.map((point) => ({ x: x(point.value), y: y(point.cost), lines: point.lines }));
    const name = shortened(visible(line.name), right - 38);
    const end = places[places.length - 1];
    svg.append(s('g', { class: `line ${colourOfLine(line, at)}`, 'data-method': line.row.cell.name },
      s('path', { d: `M${places.map((point) => `${point.x} ${point.y}`).join('L')}` }),
      places.map((point) => s('circle', { cx: point.x, cy: point.y, r: 3.5 })),
      narrow || lines.length > MANY ? null : s('line', {
        class: 'leader', x1: end.x + 6, y1: end.y, x2: width - right + 30, y2: labels[at].y - 4,
      }),
      narrow || lines.length > MANY ? null
        : s('text', { class: 'name', x: width - right + 34, y: labels[at].y }, name, s('title', {}, visible(line.name)))));
    return { name: line.row.cell.name, points: places };
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
    body.append(h('ul', { class: 'legend chips' }, lines.map((line, at) => (
      h('li', { 'data-method': line.row.cell.name, class: colourOfLine(line, at), pointerenter: () => highlight(line.row.cell.name), pointerleave: () => highlight(null) },
        h('span', { class: 'swatch' }), named(line.name))))));
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
