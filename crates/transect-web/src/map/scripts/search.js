// Names that hold a text, wherever they are.

/** All names in small letters; made when somebody searches for the first time. */
let small = null;

function smallNames() {
  if (small === null) {
    const text = names.toLowerCase();
    // A few letters become two.
    small = { text, begins: text.length === names.length ? begins : beginningsOf(text) };
  }
  return small;
}

function forgetSmallNames() {
  small = null;
}

/** The entry whose name is at a place of the text. */
function entryAt(places, place) {
  let low = 0;
  let high = total;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (places[middle] <= place) low = middle;
    else high = middle;
  }
  return low;
}

/** What was found: entries in the order in which they lie, and what they come to, each once. */
function searchFor(wanted) {
  const { text, begins: places } = smallNames();
  const marks = new Uint8Array(total);
  const hits = [];
  let sum = 0;
  const word = wanted.toLowerCase();
  for (let place = text.indexOf(word); place >= 0;) {
    const at = entryAt(places, place);
    if (type[at] !== MORE) {
      hits.push(at);
      marks[at] = 1;
    }
    place = text.indexOf(word, places[at + 1]);
  }
  for (const at of hits) {
    if (at === TOP || marks[parent[at]] !== 1) sum += size[at];
    // Those that hold it are shown, too.
    for (let step = parent[at]; at !== TOP && marks[step] === 0; step = parent[step]) {
      marks[step] = 2;
      if (step === TOP) break;
    }
  }
  // And all that it holds: what is below comes later.
  for (let at = 1; at < total; at += 1) {
    if (marks[parent[at]] === 1) marks[at] = 1;
  }
  return { marks, hits, sum };
}
