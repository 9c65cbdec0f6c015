// Names and sizes on areas with enough room.

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

const ruler = document.createElement('canvas').getContext('2d');
/** The widths of ASCII letters by font; other texts are measured. */
const widths = new Map();

function widthOf(text, font) {
  let known = widths.get(font);
  if (!known) {
    ruler.font = font;
    known = Float32Array.from({ length: 127 }, (_, code) => (code < 32 ? 0 : ruler.measureText(String.fromCharCode(code)).width));
    widths.set(font, known);
  }
  let width = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 126) {
      ruler.font = font;
      return ruler.measureText(text).width;
    }
    width += known[code];
  }
  return width;
}

/** Fewer letters of a longer name say nothing. */
const MIN_LETTERS = 5;

/** A text that fits: names are shortened in the middle, as they differ at both ends, and paths at the beginning. */
function fitting(text, font, room) {
  if (widthOf(text, font) <= room) return text;
  const characters = [...text];
  let [low, high] = [0, characters.length - 1];
  const cut = (kept) => {
    const tail = text.includes(about.separator) ? kept : Math.floor(kept / 2);
    return `${characters.slice(0, kept - tail).join('')}…${tail ? characters.slice(-tail).join('') : ''}`;
  };
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (widthOf(cut(middle), font) <= room) low = middle;
    else high = middle - 1;
  }
  return low < MIN_LETTERS ? '' : cut(low);
}

/** Writes labels: on the upper edge of directories, in the upper corner of files. */
function writeLabels(context, width, height, zoom, left, top, isDim) {
  const dark = isDark();
  const { at, how, depth, box } = areas;
  context.textBaseline = 'alphabetic';
  for (let place = 0; place < areas.length; place += 1) {
    const corner = 4 * place;
    const x0 = (box[corner] - left) * zoom;
    const y0 = (box[corner + 1] - top) * zoom;
    const x1 = (box[corner + 2] - left) * zoom;
    const y1 = (box[corner + 3] - top) * zoom;
    if (x1 - x0 < 42 || y1 - y0 < 17 || x1 < 0 || y1 < 0 || x0 > width || y0 > height) continue;
    // A partly visible area is labelled where it becomes visible.
    const x = Math.max(0, x0) + 6;
    const room = Math.min(width, x1) - x - 6;
    if (room < 30) continue;
    if (how[place] === WITH_HEADER) {
      const band = HEADER * zoom;
      const pixels = Math.round(Math.min(12 * zoom, 16));
      const font = `${depth[place] === 0 ? 600 : 500} ${pixels}px ${FONT}`;
      const y = Math.max(y0, Math.min(0, y1 - band)) + band / 2 + pixels * 0.36;
      const light = `${pixels - 1}px ${FONT}`;
      const amounts = texts.amounts(at[place]);
      const amount = amounts.find((text) => room > 2.4 * (widthOf(text, light) + 10)) ?? amounts.at(-1);
      const beside = widthOf(amount, light) + 10;
      const name = fitting(texts.name(at[place]), font, room - (room > 2.4 * beside ? beside : 0));
      context.font = font;
      context.fillStyle = dark ? '#e8edf4' : '#1b2330';
      context.fillText(name, x, y);
      if (room > 2.4 * beside) {
        context.font = light;
        context.fillStyle = dark ? '#97a3b4' : '#5a6576';
        context.fillText(amount, x + room - beside + 10, y);
      }
    } else if (how[place] === PLAIN) {
      const font = `12px ${FONT}`;
      const name = fitting(texts.name(at[place]), font, room);
      if (!name) continue;
      const y = Math.max(y0, 0) + 15;
      if (y > y1 - 2) continue;
      const ink = isDim(at[place]) ? 0.45 : 1;
      context.font = font;
      context.fillStyle = dark ? `rgb(255 255 255 / ${0.95 * ink})` : `rgb(20 26 36 / ${0.92 * ink})`;
      context.fillText(name, x, y);
      const light = `11px ${FONT}`;
      const amount = texts.amounts(at[place]).find((text) => widthOf(text, light) <= room);
      if (y1 - y > 19 && amount) {
        context.font = light;
        context.fillStyle = dark ? `rgb(255 255 255 / ${0.68 * ink})` : `rgb(20 26 36 / ${0.62 * ink})`;
        context.fillText(amount, x, y + 15);
      }
    }
  }
}
