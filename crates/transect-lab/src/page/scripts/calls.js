// How often a method goes to the system.

const KINDS = [
  ['opens', 'opens', (accesses) => accesses.opens],
  ['listings', 'listings', (accesses) => accesses.listings],
  ['attributes', 'attributes', (accesses) => accesses.attributes],
  ['others', 'others', ({ calls, opens, listings, attributes }) => (
    Math.max(0, calls - opens - listings - attributes))],
];

function callsCard() {
  const legend = h('ul', { class: 'legend' }, KINDS.map(([key, word]) => (
    h('li', {}, h('span', { class: `swatch k-${key}` }), word))));
  const { section, body } = card('calls', 'System calls for each entry',
    'Counted in a run of its own that is never timed; what the runtime does before and after the '
    + 'walk is taken off.', legend);
  return {
    section,
    draw() {
      const isCounted = ranking().rows.some((row) => row.accesses);
      section.hidden = !isCounted;
      if (!isCounted) return undefined;
      const rows = shown().filter((row) => row.accesses);
      if (rows.length === 0) return nothing(body, 'No method that passes the filters was counted.');
      const entries = entriesOf(place());
      const most = Math.max(...rows.map((row) => row.accesses.calls / entries));
      return rowsChart(body, rows, {
        label: 'System calls for each entry by method',
        scaleFor: (range) => linear([0, most * 1.02], range),
        tick: (value) => String(Number(value.toPrecision(6))),
        draw: (row, middle, height, scale) => stackOf(row.accesses, entries, middle, height, scale),
      });
    },
  };
}

function stackOf(accesses, entries, middle, height, scale) {
  const half = Math.min(7, height * 0.32);
  const nodes = [];
  const points = [];
  let sum = 0;
  for (const [key, word, of] of KINDS) {
    const each = of(accesses) / entries;
    const [from, to] = [scale(sum), scale(sum + each)];
    sum += each;
    nodes.push(s('rect', {
      class: `k-${key}`, x: from, y: middle - half, width: Math.max(0, to - from), height: 2 * half,
    }));
    points.push({
      x: (from + to) / 2,
      y: middle,
      lines: [
        `${word}: ${each.toFixed(3)} for each entry, ${whole(of(accesses))} in all`,
        `all calls: ${(accesses.calls / entries).toFixed(3)}, ${whole(accesses.calls)} in all`,
      ],
    });
  }
  return { nodes, points, value: (accesses.calls / entries).toFixed(2) };
}
