// Input on the map: pointer, wheel, keys.

const detail = h('div', { class: 'detail', id: 'detail' });
const spoken = h('div', { class: 'off-screen', id: 'spoken', role: 'status' });

/** Describes the pointed or selected entry below the map. */
function updateDetail() {
  const at = pointed >= 0 ? areas.at[pointed] : view.chosen >= 0 ? view.chosen : view.at;
  const [path, words] = describe(pointed, at);
  detail.replaceChildren(pathText(path, 'path'), h('span', {}, words));
  return [path, words];
}

function positionOf(event) {
  const box = stage.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** The position of the pointer on the map. */
let pointer = null;

function pointAt(x, y, withTip) {
  pointer = [x, y, withTip];
  const place = areaAt(view.x + x / view.scale, view.y + y / view.scale);
  if (place !== pointed) {
    pointed = place;
    drawOver();
    const [path, words] = updateDetail();
    tip.replaceChildren(h('bdi', { class: 'path' }, path), ...words.split(' · ').map((word) => h('span', {}, word)));
  }
  tip.hidden = place < 0 || !withTip;
  if (tip.hidden) return;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = x + 16 + width > screen.width ? x - width - 12 : x + 16;
  const top = y + 18 + height > screen.height ? y - height - 12 : y + 18;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function pointAway() {
  pointer = null;
  pointed = -1;
  tip.hidden = true;
  drawOver();
  updateDetail();
}

/** The target of a click on an area: the directory whose name is clicked, or the next one towards it. */
function clickTarget(place, y) {
  const at = areas.at[place];
  const isName = areas.how[place] === WITH_HEADER && view.y + y / view.scale < areas.box[4 * place + 1] + HEADER;
  return isName ? at : stepTowards(at);
}

/** Opens the clicked entry. A first tap selects, a second one opens: fingers cannot hover. */
function click(x, y, withFinger) {
  pointAt(x, y, false);
  if (pointed < 0) return;
  const at = clickTarget(pointed, y);
  if (children[at] > 0 && (!withFinger || view.chosen === at)) goTo(at);
  else choose(withFinger ? at : areas.at[pointed]);
}

const down = new Map();
let dragged = 0;

picture.addEventListener('pointerdown', (event) => {
  if (event.button > 0) return;
  down.set(event.pointerId, positionOf(event));
  if (down.size === 1) dragged = 0;
  picture.setPointerCapture(event.pointerId);
});
picture.addEventListener('pointermove', (event) => {
  const [x, y] = positionOf(event);
  const before = down.get(event.pointerId);
  if (!before) {
    if (event.pointerType !== 'touch') pointAt(x, y, true);
    return;
  }
  dragged += Math.hypot(x - before[0], y - before[1]);
  if (dragged < 5) return;
  tip.hidden = true;
  const other = [...down].find(([id]) => id !== event.pointerId)?.[1];
  down.set(event.pointerId, [x, y]);
  if (other) {
    const spread = ([a, b]) => Math.max(8, Math.hypot(a - other[0], b - other[1]));
    magnify(spread([x, y]) / spread(before), (x + other[0]) / 2, (y + other[1]) / 2, screen.width, screen.height);
  } else {
    view.x -= (x - before[0]) / view.scale;
    view.y -= (y - before[1]) / view.scale;
    keepWithin(screen.width, screen.height);
  }
  redraw();
});
for (const end of ['pointerup', 'pointercancel']) {
  picture.addEventListener(end, (event) => {
    const was = down.delete(event.pointerId);
    if (was && end === 'pointerup' && down.size === 0 && dragged < 5) {
      click(...positionOf(event), event.pointerType === 'touch');
    }
  });
}
picture.addEventListener('pointerleave', () => {
  if (down.size === 0) pointAway();
});

/** Opens a directory that fills the whole screen. */
function enterIfFilling(x, y) {
  layOutView();
  const place = areaAt(view.x + x / view.scale, view.y + y / view.scale);
  if (place < 0) return false;
  const step = stepTowards(areas.at[place]);
  const area = children[step] > 0 ? areaOf(step) : -1;
  if (area < 0) return false;
  const [x0, y0, x1, y1] = boxOf(area);
  const fills = x0 <= 0 && y0 <= 0 && x1 >= screen.width && y1 >= screen.height;
  if (fills) goTo(step);
  return fills;
}

let ignoreWheelUntil = 0;
picture.addEventListener('wheel', (event) => {
  event.preventDefault();
  const [x, y] = positionOf(event);
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoomAt(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.0022), x, y);
}, { passive: false });

/** Zooms at a point; enters or leaves directories at the limits. */
function zoomAt(factor, x, y) {
  const now = performance.now();
  // The wheel is still turning: one turn, one directory.
  if (now < ignoreWheelUntil) return;
  const leaves = factor < 1 && view.scale === 1;
  if (leaves && view.at !== TOP) {
    ignoreWheelUntil = now + 300;
    goUp();
    return;
  }
  magnify(factor, x, y, screen.width, screen.height);
  if (factor > 1 && enterIfFilling(x, y)) ignoreWheelUntil = now + 300;
  tip.hidden = true;
  redraw();
}

/** Selects the next entry in a direction, by position. */
function chooseTowards(across, downwards) {
  const middle = (place) => {
    const [x0, y0, x1, y1] = boxOf(place);
    return [(x0 + x1) / 2, (y0 + y1) / 2];
  };
  const from = view.chosen >= 0 ? areaOf(view.chosen) : -1;
  const [x, y] = from >= 0 ? middle(from) : [-1, -1];
  let best = -1;
  let least = Infinity;
  for (let place = 0; place < areas.length; place += 1) {
    if (areas.depth[place] !== 0 || areas.how[place] === REST || place === from) continue;
    const [left, top] = middle(place);
    const along = (left - x) * across + (top - y) * downwards;
    const aside = Math.abs((left - x) * downwards) + Math.abs((top - y) * across);
    const far = from < 0 ? left + top : along > 0.5 ? along + 2.5 * aside : Infinity;
    if (far < least) [best, least] = [place, far];
  }
  if (best < 0) return;
  choose(areas.at[best]);
  spoken.textContent = describe(best, areas.at[best]).join(', ');
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

picture.addEventListener('keydown', (event) => {
  const step = STEPS[event.key];
  const [across, along] = step ?? [];
  const centre = [screen.width / 2, screen.height / 2];
  if (step && event.shiftKey) {
    view.x += (across * screen.width) / 8 / view.scale;
    view.y += (along * screen.height) / 8 / view.scale;
    keepWithin(screen.width, screen.height);
    redraw();
  } else if (step) chooseTowards(across, along);
  else if (event.key === 'Enter' && view.chosen >= 0 && children[view.chosen] > 0) goTo(view.chosen);
  else if (event.key === 'Backspace') goUp();
  else if (event.key === 'Escape' && view.scale > 1) {
    Object.assign(view, { scale: 1, x: 0, y: 0 });
    redraw();
  } else if (event.key === 'Escape') goUp();
  else if (event.key === 'Home') goTo(TOP);
  else if (event.key === '+' || event.key === '=') zoomAt(1.4, ...centre);
  else if (event.key === '-') zoomAt(1 / 1.4, ...centre);
  else return;
  event.preventDefault();
});
