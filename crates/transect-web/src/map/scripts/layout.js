// The visible areas and their positions: a list in columns, parents before children. Positions are
// pixels of the map without zoom.

/** Pixels for the name of a directory, and between its edge and its entries. */
const HEADER = 19;
const GAP = 2;
/** Entries smaller than this many square pixels on the screen are merged. */
const SMALLEST = 5;

const PLAIN = 0;
const OPEN = 1;
const WITH_HEADER = 2;
const REST = 3;

const areas = {
  length: 0,
  at: new Uint32Array(0),
  how: new Uint8Array(0),
  depth: new Uint16Array(0),
  box: new Float64Array(0),
};

function grow(array, length) {
  const grown = new array.constructor(length);
  grown.set(array);
  return grown;
}

function addArea(at, how, depth, x0, y0, x1, y1) {
  const place = areas.length;
  if (place === areas.at.length) {
    const room = Math.max(4096, 2 * place);
    for (const column of ['at', 'how', 'depth']) areas[column] = grow(areas[column], room);
    areas.box = grow(areas.box, 4 * room);
  }
  areas.at[place] = at;
  areas.how[place] = how;
  areas.depth[place] = Math.min(depth, 65535);
  areas.box[4 * place] = x0;
  areas.box[4 * place + 1] = y0;
  areas.box[4 * place + 2] = x1;
  areas.box[4 * place + 3] = y1;
  areas.length = place + 1;
}

/**
 * Lays out the entries of `top` in a box ([x0, y0, x1, y1]): those that overlap `seen`
 * ([x0, y0, x1, y1]) and are large enough to distinguish at a zoom of `scale`.
 */
function layOut(top, [left, up, right, down], scale, seen) {
  const cut = SMALLEST / (scale * scale);
  areas.length = 0;
  // Without recursion: a tree may be deeper than the stack.
  const waiting = [];
  const open = (at, depth, x0, y0, x1, y1) => {
    const put = (child, left, up, right, down) => {
      if (right < seen[0] || left > seen[2] || down < seen[1] || up > seen[3]) return;
      if (children[child] > 0 && inside[child] > 0 && (right - left) * (down - up) > 2 * cut) {
        waiting.push([child, depth, left, up, right, down]);
      } else {
        addArea(child, PLAIN, depth, left, up, right, down);
      }
    };
    const rest = (child, left, up, right, down) => addArea(child, REST, depth, left, up, right, down);
    squarify(first[at], first[at] + children[at], inside[at], x0, y0, x1, y1, cut, put, rest);
  };
  if (inside[top] > 0) open(top, 0, left, up, right, down);
  while (waiting.length > 0) {
    const [at, depth, x0, y0, x1, y1] = waiting.pop();
    const [across, down] = [x1 - x0, y1 - y0];
    const header = across >= 52 && down >= 46;
    const gap = across > 18 && down > 18 ? GAP : across > 7 && down > 7 ? 0.5 : 0;
    addArea(at, header ? WITH_HEADER : OPEN, depth, x0, y0, x1, y1);
    open(at, depth + 1, x0 + gap, y0 + (header ? HEADER : gap), x1 - gap, y1 - gap);
  }
}

/** The index of the area at a point: the last one is the innermost. */
function areaAt(x, y) {
  const { box } = areas;
  for (let place = areas.length - 1; place >= 0; place -= 1) {
    const corner = 4 * place;
    if (x >= box[corner] && x < box[corner + 2] && y >= box[corner + 1] && y < box[corner + 3]) return place;
  }
  return -1;
}

/** The index of the area of an entry, if it has its own. */
function areaOf(at) {
  for (let place = 0; place < areas.length; place += 1) {
    if (areas.at[place] === at && areas.how[place] !== REST) return place;
  }
  return -1;
}
