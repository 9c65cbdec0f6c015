// System calls: their number and their time.

const KINDS = [
  ['opens', 'opens', (accesses) => accesses.opens],
  ['listings', 'listings', (accesses) => accesses.listings],
  ['attributes', 'attributes', (accesses) => accesses.attributes],
  ['others', 'others', ({ calls, opens, listings, attributes }) => (
    Math.max(0, calls - opens - listings - attributes))],
];

const TIMES = [
  ['opens', 'opening', (calls) => calls.opening_ns],
  ['listings', 'listing', (calls) => calls.listing_ns],
  ['attributes', 'attributes', (calls) => calls.attributes_ns],
];

/** The unit that calls are counted per. */
const CALLER = isOfQuestions ? ['question', 'questions'] : isOfFiles ? ['file', 'files'] : ['entry', 'entries'];

function callsCard() {
  return stackCard({
    id: 'calls',
    title: `System calls per ${CALLER[0]}`,
    about: isOfFiles || isOfQuestions
      ? 'Counted in a separate, untimed run, without the calls of process start.'
      : 'Counted in a separate, untimed run, on a sample of a large tree, without the calls of the '
        + 'runtime before and after the walk.',
    kinds: KINDS,
    of: (row) => row.accesses,
    // Relative to the entries or files of the counting run.
    part: (accesses, count) => count / accesses.entries,
    tick: (value) => String(Number(value.toPrecision(6))),
    lines: (accesses, word, count) => [
      `${word}: ${(count / accesses.entries).toFixed(3)} per ${CALLER[0]}, ${whole(count)} in total`,
      `all calls: ${(accesses.calls / accesses.entries).toFixed(3)}, ${whole(accesses.calls)} in total`,
    ],
    value: (sum) => sum.toFixed(2),
  });
}

function timesCard() {
  return stackCard({
    id: 'times',
    title: 'Time in system calls, all threads',
    about: 'For transect’s own methods, in a separate run that is not ranked. Includes waiting for devices, '
      + 'locks and cores.',
    kinds: TIMES,
    of: (row) => row.calls,
    part: (calls, time) => time,
    tick: roundTime,
    lines: (calls, word, time) => [`${word}: ${duration(time)}`, counted(calls.threads, 'thread', 'threads')],
    value: duration,
  });
}

/** A card of stacked bars, one for each row that has the data. */
function stackCard({ id, title, about, kinds, of, part, tick, lines, value }) {
  const legend = h('ul', { class: 'legend' }, kinds.map(([key, word]) => (
    h('li', {}, h('span', { class: `swatch k-${key}` }), word))));
  const { section, body } = card(id, title, about, legend);
  const partsOf = (row) => kinds.map(([, , get]) => part(of(row), get(of(row))));
  const sumOf = (row) => partsOf(row).reduce((sum, one) => sum + one, 0);
  return {
    section,
    draw() {
      const isKnown = ranking().rows.some(of);
      section.hidden = !isKnown;
      if (!isKnown) return undefined;
      const rows = shown().filter(of);
      if (rows.length === 0) return nothing(body, 'No data for the methods that match the filters.');
      const most = Math.max(...rows.map(sumOf));
      return rowsChart(body, rows, {
        label: `${title} by method`,
        scaleFor: (range) => linear([0, most * 1.02], range),
        tick,
        draw(row, middle, height, scale) {
          const half = Math.min(7, height * 0.32);
          const nodes = [];
          const points = [];
          let sum = 0;
          partsOf(row).forEach((each, at) => {
            const [key, word, get] = kinds[at];
            const [from, to] = [scale(sum), scale(sum + each)];
            sum += each;
            nodes.push(s('rect', {
              class: `k-${key}`, x: from, y: middle - half, width: Math.max(0, to - from), height: 2 * half,
            }));
            points.push({ x: (from + to) / 2, y: middle, lines: lines(of(row), word, get(of(row))) });
          });
          return { nodes, points, value: value(sum) };
        },
      });
    },
  };
}
