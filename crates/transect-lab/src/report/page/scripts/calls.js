// How often a method goes to the system, and how long it stays there.

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

/** What calls are counted for. */
const CALLER = isOfQuestions ? ['question', 'questions'] : isOfFiles ? ['file', 'files'] : ['entry', 'entries'];

function callsCard() {
  return stackCard({
    id: 'calls',
    title: `System calls for each ${CALLER[0]}`,
    about: isOfFiles || isOfQuestions
      ? 'Counted in a run of its own that is never timed; what a process does to start is taken off.'
      : 'Counted in a run of its own that is never timed, on a part of a large tree; what the runtime '
        + 'does before and after the walk is taken off.',
    kinds: KINDS,
    of: (row) => row.accesses,
    // Of what was walked, or passed over, to count them.
    part: (accesses, count) => count / accesses.entries,
    tick: (value) => String(Number(value.toPrecision(6))),
    lines: (accesses, word, count) => [
      `${word}: ${(count / accesses.entries).toFixed(3)} for each ${CALLER[0]}, ${whole(count)} in all`,
      `all calls: ${(accesses.calls / accesses.entries).toFixed(3)}, ${whole(accesses.calls)} in all`,
    ],
    value: (sum) => sum.toFixed(2),
  });
}

function timesCard() {
  return stackCard({
    id: 'times',
    title: 'Time inside the calls, summed over the threads',
    about: 'Of this program’s own methods, in a run of its own that is not ranked. Waiting counts: for a '
      + 'device, for a lock, for a core.',
    kinds: TIMES,
    of: (row) => row.calls,
    part: (calls, time) => time,
    tick: roundTime,
    lines: (calls, word, time) => [`${word}: ${duration(time)}`, counted(calls.threads, 'thread', 'threads')],
    value: duration,
  });
}

/** A card of bars, one for each row that has what it shows, made of kinds. */
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
      if (rows.length === 0) return nothing(body, 'Nothing is known of a method that passes the filters.');
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
