// Paints areas as pixels. There may be a hundred thousand areas in a frame, and a canvas takes
// microseconds for each rectangle. Therefore rows of pixels are filled here, and drawn as one picture.

const SHADES = 24;

/** The tones of each class from top to bottom of an area; `dim` is for entries outside the selection. */
const ramps = { bright: [], dim: [], frames: [], hatched: [], page: 0 };

/** Pixels between the stripes of hatched areas, and their width. */
const STRIPES = 9;
const STRIPE = 3;

/** Paints diagonal stripes over a row of pixels. */
function hatch(pixels, colour, row, from, to, y) {
  for (let x = from; x < to; x += 1) {
    if ((x + y) % STRIPES < STRIPE) pixels[row + x] = colour;
  }
}

function packed([red, green, blue]) {
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

function mixed(one, other, share) {
  return one.map((part, at) => Math.round(part + (other[at] - part) * share));
}

function prepareTones() {
  const dark = isDark();
  const page = dark ? [16, 20, 26] : [255, 255, 255];
  const shade = (colour, at) => {
    const place = at / (SHADES - 1);
    const light = dark ? 0.13 - 0.25 * place : 0.2 - 0.2 * place;
    return light >= 0 ? mixed(colour, [255, 255, 255], light) : mixed(colour, [0, 0, 0], -light);
  };
  const ramp = (colour) => Uint32Array.from({ length: SHADES }, (_, at) => packed(shade(colour, at)));
  const { classes: known } = COLOUR_MODES[classes.mode];
  const colours = known.map((_, place) => toneOf(classes.mode, place));
  ramps.bright = colours.map(ramp);
  ramps.dim = colours.map((colour) => ramp(mixed(mixed(colour, page, 0.62), dark ? [60, 66, 74] : [222, 226, 232], 0.5)));
  ramps.hatched = known.map((_, place) => isHatched(classes.mode, place));
  const step = (depth) => (dark ? tone(0.285 + 0.035 * Math.min(depth, 4), 0.014, 262) : tone(0.945 - 0.018 * Math.min(depth, 4), 0.009, 262));
  ramps.frames = Array.from({ length: 5 }, (_, depth) => packed(step(depth)));
  ramps.page = packed(dark ? tone(0.2, 0.014, 262) : tone(0.965, 0.006, 262));
}

/**
 * Paints the areas into rows of `width` pixels. One unit of the layout is `zoom` pixels; the first
 * pixel is at (left, top). `isDim` returns whether an entry is painted dim.
 */
function paintAreas(pixels, width, height, zoom, left, top, isDim) {
  const { at, how, depth, box } = areas;
  pixels.fill(ramps.page);
  for (let place = 0; place < areas.length; place += 1) {
    const corner = 4 * place;
    const x0 = Math.round((box[corner] - left) * zoom);
    const y0 = Math.round((box[corner + 1] - top) * zoom);
    let x1 = Math.round((box[corner + 2] - left) * zoom);
    let y1 = Math.round((box[corner + 3] - top) * zoom);
    if (x1 <= 0 || y1 <= 0 || x0 >= width || y0 >= height || x1 <= x0 || y1 <= y0) continue;
    // A line separates neighbours, if there is room for it.
    if (x1 - x0 > 3 && y1 - y0 > 3) {
      x1 -= 1;
      y1 -= 1;
    }
    const [from, to] = [Math.max(0, x0), Math.min(width, x1)];
    const end = Math.min(height, y1);
    const round = x1 - x0 > 12 && y1 - y0 > 12 ? (how[place] === WITH_HEADER ? 2 : 1) : 0;
    if (how[place] === OPEN || how[place] === WITH_HEADER) {
      const colour = ramps.frames[Math.min(depth[place], 4)];
      for (let y = Math.max(0, y0); y < end; y += 1) {
        const inset = Math.max(0, round - Math.min(y - y0, y1 - 1 - y));
        pixels.fill(colour, y * width + Math.max(from, x0 + inset), y * width + Math.min(to, x1 - inset));
      }
      continue;
    }
    const ramp = (isDim(at[place]) ? ramps.dim : ramps.bright)[classes.of[at[place]]];
    const isStriped = ramps.hatched[classes.of[at[place]]] && how[place] !== REST;
    const step = (SHADES - 1) / Math.max(1, y1 - y0 - 1);
    for (let y = Math.max(0, y0); y < end; y += 1) {
      const inset = Math.max(0, round - Math.min(y - y0, y1 - 1 - y));
      const colour = how[place] === REST ? ramp[SHADES >> 1] : ramp[Math.round((y - y0) * step)];
      const [begin, last] = [Math.max(from, x0 + inset), Math.min(to, x1 - inset)];
      pixels.fill(colour, y * width + begin, y * width + last);
      if (isStriped) hatch(pixels, ramps.page, y * width, begin, last, y);
    }
  }
}
