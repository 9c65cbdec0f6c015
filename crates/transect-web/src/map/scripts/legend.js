// The legend: the colours, and the size of each class in the current directory.

const legend = h('ul', { class: 'legend', id: 'legend', 'aria-label': 'Colours' });

/** The total size of each class in a directory. Counts only entries without children, so nothing twice. */
function sumsByClass(top, weigh) {
  const sums = new Float64Array(COLOUR_MODES[classes.mode].classes.length);
  const waiting = [top];
  while (waiting.length > 0) {
    const at = waiting.pop();
    if (children[at] === 0) {
      sums[classes.of[at]] += weigh(at);
      continue;
    }
    const end = first[at] + children[at];
    for (let child = first[at]; child < end; child += 1) {
      if (children[child] > 0) waiting.push(child);
      else sums[classes.of[child]] += weigh(child);
    }
  }
  return sums;
}

function drawLegend() {
  const sums = sumsByClass(view.at, (at) => size[at]);
  const { classes: known, isOrdered, weigh, amount = bytes } = COLOUR_MODES[classes.mode];
  const amounts = weigh ? sumsByClass(view.at, weigh) : sums;
  const shown = known.map((_, place) => place).filter((place) => sums[place] > 0);
  if (!isOrdered) shown.sort((a, b) => sums[b] - sums[a]);
  legend.replaceChildren(...shown.map((place) => {
    return h('li', {}, h('button', {
      type: 'button', 'data-class': known[place], 'aria-pressed': String(view.only === place), title: 'Show only these',
      click: () => {
        view.only = view.only === place ? -1 : place;
        drawLegend();
        redraw();
      },
    }, swatchOf(place), h('bdi', {}, known[place]), h('span', { class: 'amount' }, amount(amounts[place], place))));
  }));
}

/** Delayed until the map is drawn, because it visits every entry. */
let waitingLegend = 0;
function drawLegendSoon() {
  clearTimeout(waitingLegend);
  waitingLegend = setTimeout(drawLegend, 60);
}

function colourBy(mode) {
  view.only = -1;
  classify(mode);
  prepareTones();
  drawLegend();
  redraw();
}
