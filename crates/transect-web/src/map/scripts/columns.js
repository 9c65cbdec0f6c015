// The entries as columns: one number per entry; those of a directory are adjacent, the largest first.

/** The metadata of the page and the tree; updates replace it together with the columns. */
let about = JSON.parse(document.getElementById('about').textContent);

const NUMBERS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const all = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) all[at] = raw.charCodeAt(at);
  return all;
}

/** The columns embedded in the page. */
function embedded() {
  const node = document.getElementById('columns');
  const packed = bytesOf(node.textContent);
  // Frees its text, which is as large as the file.
  node.remove();
  return packed;
}

async function unpacked(packed, places) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const buffer = await new Response(stream).arrayBuffer();
  const column = ([name, width, offset, length]) => [name, new NUMBERS[width](buffer, offset, length)];
  return Object.fromEntries(places.map(column));
}

/** Joins the low bits with the sparse high bits of large numbers. */
function whole(low, places, high) {
  const numbers = Float64Array.from(low);
  for (let at = 0; at < places.length; at += 1) {
    if (high[at] === -0x80000000) numbers[places[at]] = NaN;
    else numbers[places[at]] += high[at] * 0x100000000;
  }
  return numbers;
}

let columns;
let size;
let time;
let children;
let entries;
let type;
let kind;
let owner;
let total;

function takeColumns(found) {
  columns = found;
  size = whole(columns.size, columns.size_at, columns.size_high);
  time = whole(columns.time, columns.time_at, columns.time_high);
  ({ children, entries, type, kind, owner } = columns);
  total = size.length;
}
