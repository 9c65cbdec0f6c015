// The disk as the outer frame of the map: beside the tree, what else is used, and what is available.

/** Returns whether the frame can be shown: area means disk usage, and the tree is on one disk. */
function canFrame() {
  return Boolean(about.disk) && about.measure === 'disk_usage' && about.disk.disk_usage <= about.disk.used;
}

function isFramed() {
  return view.framed && view.at === TOP && canFrame();
}

/** The parts of the disk: label, bytes, and where they begin and end as shares of all. */
function diskParts() {
  const { size: all, used, available, disk_usage: usage } = about.disk;
  const reserved = Math.max(0, all - used - available);
  const parts = [['This tree', usage], ['Other data', used - usage], ['Reserved', reserved], ['Available', available]];
  let begin = 0;
  return parts.map(([label, amount]) => {
    const from = begin;
    begin += amount / all;
    return { label, amount, from, to: begin };
  });
}

/** The box of the tree within the map: along the longer side, its share of the disk. */
function treeBox(width, height) {
  if (!isFramed()) return [0, 0, width, height];
  const { to } = diskParts()[0];
  return width >= height ? [0, 0, width * to, height] : [0, 0, width, height * to];
}

/** Draws the parts of the disk beside the tree. */
function drawFrame(context, width, height, scale, left, top) {
  if (!isFramed()) return;
  const dark = isDark();
  for (const { label, amount, from, to } of diskParts().slice(1)) {
    const wide = width >= height;
    const [x, y] = wide ? [from * width, 0] : [0, from * height];
    const [across, down] = wide ? [(to - from) * width, height] : [width, (to - from) * height];
    const [x0, y0] = [(x - left) * scale, (y - top) * scale];
    const [x1, y1] = [x0 + across * scale, y0 + down * scale];
    context.fillStyle = label === 'Available' ? (dark ? '#10151c' : '#ffffff') : dark ? '#3a4350' : '#d3d9e2';
    context.strokeStyle = dark ? '#4a5564' : '#b8c1ce';
    context.fillRect(x0 + 1, y0, Math.max(0, x1 - x0 - 1), y1 - y0);
    context.strokeRect(x0 + 1.5, y0 + 0.5, Math.max(0, x1 - x0 - 2), y1 - y0 - 1);
    const shown = Math.max(0, x0) + 8;
    const font = `600 12px ${FONT}`;
    const text = fitting(`${label} ${bytes(amount)}`, font, Math.min(width, x1) - shown - 6);
    context.font = font;
    context.fillStyle = dark ? '#c6cfdb' : '#3a4658';
    context.fillText(text, shown, Math.max(0, y0) + 18);
  }
}
