// Search by name in the whole tree.

/** All names in lower case, created by the first search. */
let lowered = null;

function lowerCaseNames() {
  if (lowered === null) {
    const text = names.toLowerCase();
    // Some letters become two.
    lowered = { text, begins: text.length === names.length ? begins : beginningsOf(text) };
  }
  return lowered;
}

function forgetLowerCaseNames() {
  lowered = null;
}

/** The entry whose name is at a position of the text. */
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

/** The matching entries in order, and their total size; nested matches count once. */
function searchFor(wanted) {
  const { text, begins: places } = lowerCaseNames();
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
    // Ancestors of matches are shown, too.
    for (let step = parent[at]; at !== TOP && marks[step] === 0; step = parent[step]) {
      marks[step] = 2;
      if (step === TOP) break;
    }
  }
  // So is everything below a match; children have larger indices.
  for (let at = 1; at < total; at += 1) {
    if (marks[parent[at]] === 1) marks[at] = 1;
  }
  return { marks, hits, sum };
}
