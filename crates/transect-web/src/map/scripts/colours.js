// Colours by file type, age or owner. Each class has a tone.

const texts = about.changes ? CHANGE_TEXTS : PLAIN_TEXTS;

/** An OKLCH colour (hue in degrees) as red, green and blue from 0 to 255. */
function tone(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((part) => {
    const within = Math.min(1, Math.max(0, part));
    const curved = within <= 0.0031308 ? 12.92 * within : 1.055 * within ** (1 / 2.4) - 0.055;
    return Math.round(255 * curved);
  });
}

function cssOf([red, green, blue]) {
  return `rgb(${red} ${green} ${blue})`;
}

const DAY = 24 * 3600;
const AGES = [
  ['in the future', 0], ['less than 1 day', DAY], ['less than 1 week', 7 * DAY], ['less than 1 month', 30 * DAY],
  ['less than 1 year', 365 * DAY], ['less than 5 years', 5 * 365 * DAY], ['older', Infinity],
];
const HUES = { video: 20, audio: 345, images: 62, documents: 245, archives: 92, 'source code': 150, programs: 292, data: 195 };
/** The number of owners with their own colour: the first ones own the largest entries. */
const OWNERS = 10;

const COLOUR_MODES = {
  ...(about.changes ? { change: CHANGE_MODE } : {}),
  type: {
    label: 'type',
    classes: [...about.kinds, 'links and others', 'several'],
    of: (at) => {
      if (kind[at] !== 255) return kind[at];
      return about.kinds.length + (type[at] === MORE || isDirectory(at) ? 1 : 0);
    },
    tone: (name, dark) => {
      const hue = HUES[name];
      if (hue === undefined) return name === 'other files' ? tone(dark ? 0.52 : 0.755, 0.032, 258) : tone(dark ? 0.4 : 0.87, 0.012, 260);
      return dark ? tone(0.56, 0.118, hue) : tone(0.8, 0.105, hue);
    },
  },
  age: {
    label: 'age',
    isOrdered: true,
    classes: [...AGES.map(([name]) => name), 'unknown'],
    of: (at) => {
      const age = about.read_at - time[at];
      if (Number.isNaN(age)) return AGES.length;
      // The clock of a file system may be slightly ahead.
      return age < -60 ? 0 : AGES.findIndex(([, limit]) => age < limit);
    },
    tone: (name, dark) => {
      const place = AGES.findIndex(([other]) => other === name);
      if (place < 0) return tone(dark ? 0.4 : 0.87, 0.012, 260);
      if (place === 0) return tone(dark ? 0.58 : 0.74, 0.17, 0);
      const old = (place - 1) / (AGES.length - 2);
      // From warm and bright to cold and dim.
      return dark ? tone(0.72 - 0.36 * old, 0.13 - 0.06 * old, 75 + 195 * old) : tone(0.86 - 0.22 * old, 0.13 - 0.06 * old, 75 + 195 * old);
    },
  },
  owner: {
    label: 'owner',
    get classes() {
      return [...about.owners.slice(0, OWNERS).map(visible), about.owners.length > OWNERS ? 'other owners' : 'several or unknown'];
    },
    of: (at) => Math.min(owner[at], Math.min(about.owners.length, OWNERS)),
    tone: (name, dark, place) => {
      if (place >= Math.min(about.owners.length, OWNERS)) return tone(dark ? 0.4 : 0.87, 0.012, 260);
      const hue = 245 + 137.5 * place;
      return dark ? tone(0.56, 0.115, hue) : tone(0.8, 0.1, hue);
    },
  },
};

/** The class of every entry. A directory too small to be opened has the class of its largest entry. */
const classes = { mode: null, of: new Uint8Array(0) };

function classify(mode) {
  const { of, isOfDirectories } = COLOUR_MODES[mode];
  classes.mode = mode;
  if (classes.of.length !== total) classes.of = new Uint8Array(total);
  for (let at = 0; at < total; at += 1) classes.of[at] = of(at);
  for (let at = 0; at < total; at += 1) {
    if (children[at] > 0 && !isOfDirectories) classes.of[at] = classes.of[largest[at]];
  }
}

const darkness = matchMedia('(prefers-color-scheme: dark)');

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : darkness.matches;
}

/** Whether the areas of a class have stripes. */
function isHatched(mode, place) {
  return COLOUR_MODES[mode].hatched?.includes(place) ?? false;
}

/** A spot in the colour of a class. */
function swatchOf(place) {
  const colour = cssOf(toneOf(classes.mode, place));
  const swatch = h('span', { class: 'swatch' });
  swatch.style.background = isHatched(classes.mode, place)
    ? `repeating-linear-gradient(135deg, ${colour} 0 3px, var(--card) 3px 5px)` : colour;
  return swatch;
}

function toneOf(mode, place) {
  return COLOUR_MODES[mode].tone(COLOUR_MODES[mode].classes[place], isDark(), place);
}
