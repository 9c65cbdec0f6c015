// What the colours mean, and how much of each there is in the directory looked at.

const legend = h('ul', { class: 'legend', id: 'legend', 'aria-label': 'Colours' });

/** What each class comes to in and below a directory: entries of the last level, and nothing twice. */
function sumsByClass(top) {
  const sums = new Float64Array(WAYS[classes.way].classes.length);
  const waiting = [top];
  while (waiting.length > 0) {
    const at = waiting.pop();
    if (children[at] === 0) {
      sums[classes.of[at]] += size[at];
      continue;
    }
    const end = first[at] + children[at];
    for (let child = first[at]; child < end; child += 1) {
      if (children[child] > 0) waiting.push(child);
      else sums[classes.of[child]] += size[child];
    }
  }
  return sums;
}

function drawLegend() {
  const sums = sumsByClass(view.at);
  const { classes: known } = WAYS[classes.way];
  const shown = known.map((_, place) => place).filter((place) => sums[place] > 0);
  if (classes.way !== 'age') shown.sort((a, b) => sums[b] - sums[a]);
  legend.replaceChildren(...shown.map((place) => {
    const swatch = h('span', { class: 'swatch' });
    swatch.style.background = cssOf(toneOf(classes.way, place));
    return h('li', {}, h('button', {
      type: 'button', 'data-class': known[place], 'aria-pressed': String(view.only === place), title: 'Show these alone',
      click: () => {
        view.only = view.only === place ? -1 : place;
        drawLegend();
        redraw();
      },
    }, swatch, h('bdi', {}, known[place]), h('span', { class: 'amount' }, bytes(sums[place]))));
  }));
}

/** Behind the map: it takes a look at every entry. */
let waitingLegend = 0;
function drawLegendSoon() {
  clearTimeout(waitingLegend);
  waitingLegend = setTimeout(drawLegend, 60);
}

function colourBy(way) {
  view.only = -1;
  classify(way);
  prepareTones();
  drawLegend();
  redraw();
}
