// What was found, as columns: a number an entry, all entries of a directory beside each other and the
// largest first.

const about = JSON.parse(document.getElementById('about').textContent);

const NUMBERS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const all = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at += 1) all[at] = raw.charCodeAt(at);
  return all;
}

async function unpacked() {
  const node = document.getElementById('columns');
  const packed = new Blob([bytesOf(node.textContent)]);
  // Its text is as large as the file.
  node.remove();
  const stream = packed.stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const buffer = await new Response(stream).arrayBuffer();
  const column = ([name, width, offset, length]) => [name, new NUMBERS[width](buffer, offset, length)];
  return Object.fromEntries(about.columns.map(column));
}

/** Numbers of which most fit into 32 bits: those that do not have more elsewhere. */
function whole(low, places, high) {
  const numbers = Float64Array.from(low);
  for (let at = 0; at < places.length; at += 1) {
    if (high[at] === -0x80000000) numbers[places[at]] = NaN;
    else numbers[places[at]] += high[at] * 0x100000000;
  }
  return numbers;
}

performance.mark('unpack');
const columns = await unpacked();
const size = whole(columns.size, columns.size_at, columns.size_high);
const time = whole(columns.time, columns.time_at, columns.time_high);
const { children, entries, type, kind, owner } = columns;
const total = size.length;
