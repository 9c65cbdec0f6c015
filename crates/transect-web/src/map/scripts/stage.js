// The map on the screen: the picture, the frames of the pointed and the selected entry, and the
// animation between directories.

const picture = h('canvas', {
  id: 'map', tabindex: 0, role: 'application', 'aria-roledescription': 'treemap',
  'aria-describedby': 'spoken', 'aria-label': 'Map of the directory; the table shows the same data',
});
const over = h('canvas', { class: 'over', 'aria-hidden': 'true' });
const ghost = h('canvas', { class: 'ghost', 'aria-hidden': 'true' });
const empty = h('p', { class: 'empty', hidden: true });
const tip = h('div', { class: 'tip', 'aria-hidden': 'true', hidden: true });
const stage = h('div', { class: 'stage' }, picture, ghost, over, empty, tip);

const screen = { width: 0, height: 0, dense: 1, pixels: null, image: null };
/** The parameters of the current layout. */
const laid = { at: -1, scale: 0, width: 0, height: 0, framed: false, seen: [0, 0, 0, 0] };
/** The index of the area under the pointer. */
let pointed = -1;

function measureStage() {
  const { clientWidth: width, clientHeight: height } = stage;
  // More pixels are not visible, but slow down every frame.
  const dense = Math.min(devicePixelRatio || 1, 2);
  if (width === screen.width && height === screen.height && dense === screen.dense) return;
  Object.assign(screen, { width, height, dense });
  for (const canvas of [picture, over, ghost]) {
    canvas.width = Math.max(1, Math.round(width * dense));
    canvas.height = Math.max(1, Math.round(height * dense));
  }
  screen.image = picture.getContext('2d').createImageData(picture.width, picture.height);
  screen.pixels = new Uint32Array(screen.image.data.buffer);
  keepWithin(width, height);
}

/** Updates the layout if its parameters have changed. */
function layOutView() {
  const { width, height } = screen;
  const [right, bottom] = [view.x + width / view.scale, view.y + height / view.scale];
  const isSeen = view.x >= laid.seen[0] && view.y >= laid.seen[1] && right <= laid.seen[2] && bottom <= laid.seen[3];
  if (laid.at === view.at && laid.scale === view.scale && laid.width === width && laid.height === height && laid.framed === isFramed() && isSeen) return;
  // With a margin, so that not every step of a drag needs a new layout.
  const [beyondX, beyondY] = [width / view.scale / 3, height / view.scale / 3];
  const seen = view.scale === 1 ? [0, 0, width, height]
    : [Math.max(0, view.x - beyondX), Math.max(0, view.y - beyondY), Math.min(width, right + beyondX), Math.min(height, bottom + beyondY)];
  layOut(view.at, treeBox(width, height), view.scale, seen);
  Object.assign(laid, { at: view.at, scale: view.scale, width, height, framed: isFramed(), seen });
  pointed = -1;
}

function draw() {
  measureStage();
  layOutView();
  const context = picture.getContext('2d', { alpha: false });
  const { dense } = screen;
  paintAreas(screen.pixels, picture.width, picture.height, view.scale * dense, view.x, view.y, isDim);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.putImageData(screen.image, 0, 0);
  context.setTransform(dense, 0, 0, dense, 0, 0);
  writeLabels(context, screen.width, screen.height, view.scale, view.x, view.y, isDim);
  drawFrame(context, screen.width, screen.height, view.scale, view.x, view.y);
  // A finger moves the zoomed map, otherwise the page.
  picture.style.touchAction = view.scale > 1 ? 'none' : 'pan-y';
  drawOver();
  const nothing = total === 0 || children[view.at] === 0;
  empty.hidden = !nothing && inside[view.at] > 0;
  if (about.reading) empty.textContent = 'Nothing read yet.';
  else empty.textContent = nothing ? 'Empty.' : 'No space used; see the table for entries.';
}

let redrawScheduled = false;
function redraw() {
  if (redrawScheduled) return;
  redrawScheduled = true;
  requestAnimationFrame(() => {
    redrawScheduled = false;
    draw();
  });
}

/** The rectangle of an area on the screen. */
function boxOf(place) {
  const corner = 4 * place;
  const along = (at, origin) => (areas.box[corner + at] - origin) * view.scale;
  return [along(0, view.x), along(1, view.y), along(2, view.x), along(3, view.y)];
}

/** Frames the pointed and the selected entry, without painting the map again. */
function drawOver() {
  const context = over.getContext('2d');
  const { dense } = screen;
  context.setTransform(dense, 0, 0, dense, 0, 0);
  context.clearRect(0, 0, screen.width, screen.height);
  const frame = (place, colour, thick) => {
    const [x0, y0, x1, y1] = boxOf(place);
    context.strokeStyle = colour;
    context.lineWidth = thick;
    context.strokeRect(x0 + thick / 2, y0 + thick / 2, Math.max(1, x1 - x0 - thick), Math.max(1, y1 - y0 - thick));
  };
  const light = isDark() ? '#ffffff' : '#10151d';
  if (pointed >= 0) {
    // Also the directory that a click would open.
    const step = areaOf(stepTowards(areas.at[pointed]));
    if (step >= 0 && step !== pointed) frame(step, isDark() ? '#ffffff80' : '#10151d80', 1.5);
    frame(pointed, light, 2);
  }
  const chosen = view.chosen >= 0 ? areaOf(view.chosen) : -1;
  if (chosen >= 0) {
    frame(chosen, isDark() ? '#10151d' : '#ffffff', 5);
    frame(chosen, isDark() ? '#9db2ff' : '#2f4bd0', 3);
  }
}

const still = matchMedia('(prefers-reduced-motion: reduce)');

/** Animates the old picture: it grows out of sight or shrinks into its area. */
function animateZoom(box, inwards) {
  if (still.matches || !box) return;
  const [x0, y0, x1, y1] = box;
  const small = `translate(${x0}px, ${y0}px) scale(${Math.max(0.01, (x1 - x0) / screen.width)}, ${Math.max(0.01, (y1 - y0) / screen.height)})`;
  const [across, down] = [screen.width / Math.max(1, x1 - x0), screen.height / Math.max(1, y1 - y0)];
  const large = `translate(${-x0 * across}px, ${-y0 * down}px) scale(${across}, ${down})`;
  const how = { duration: 240, easing: 'cubic-bezier(.3, .7, .2, 1)' };
  ghost.animate([{ transform: 'none', opacity: 1 }, { transform: inwards ? large : small, opacity: 0 }], how);
  picture.animate([{ transform: inwards ? small : large, opacity: 0.4 }, { transform: 'none', opacity: 1 }], how);
}

/** Called when the directory or the selection changes. */
const listeners = [];

function notifyListeners() {
  for (const listener of listeners) listener();
}

/** Shows another directory, and selects its entry `chosen`. */
function goTo(at, chosen = -1) {
  const target = children[at] > 0 || at === TOP ? at : parent[at];
  performance.clearMarks('zoom');
  performance.mark('zoom');
  const before = view.at;
  const inwards = target !== before && isIn(target, before);
  const place = inwards ? areaOf(target) : -1;
  let box = place >= 0 ? boxOf(place) : null;
  ghost.getContext('2d').drawImage(picture, 0, 0);
  Object.assign(view, { at: target, scale: 1, x: 0, y: 0, chosen: target === at ? chosen : at });
  pointed = -1;
  tip.hidden = true;
  draw();
  if (target !== before && !inwards && isIn(before, target)) {
    const from = areaOf(before);
    box = from >= 0 ? boxOf(from) : null;
  }
  animateZoom(box, inwards);
  notifyListeners();
  performance.measure('zoom', 'zoom');
}

function goUp() {
  if (view.at !== TOP) goTo(parent[view.at], view.at);
}

/** Selects an entry of the current directory. */
function choose(at) {
  view.chosen = at;
  drawOver();
  notifyListeners();
}
