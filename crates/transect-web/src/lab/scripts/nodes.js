// Elements of this page, in addition to those of every page.

/** An SVG element. */
function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** A card with a title, an explanation, and controls. */
function card(id, title, about, ...controls) {
  const body = h('div', { class: 'body' });
  const head = h('div', { class: 'card-head' },
    h('div', {}, h('h2', { id: `${id}-title` }, title), h('p', { class: 'about' }, about)),
    h('div', { class: 'controls' }, controls));
  const section = h('section', { class: 'card', id, 'aria-labelledby': `${id}-title` }, head, body);
  return { section, body };
}

/** A group of buttons, of which one is pressed: [value, label] each. */
function choice(label, options, current, pick) {
  const buttons = options.map(([value, text]) => h('button', {
    type: 'button', 'data-value': value, 'aria-pressed': String(value === current),
    click: () => pick(value),
  }, text));
  return h('div', { class: 'choice', role: 'group', 'aria-label': label }, buttons);
}

const ruler = document.createElement('canvas').getContext('2d');

/** The width of a text in pixels. */
function widthOf(text, font = '12px system-ui, sans-serif') {
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** A text that fits, shortened in the middle, as names differ at both ends. */
function shortened(text, width) {
  if (widthOf(text) <= width) return text;
  const characters = [...text];
  for (let kept = characters.length - 1; kept > 2; kept -= 1) {
    const tail = Math.ceil(kept / 2);
    const cut = characters.slice(0, kept - tail).join('') + '…' + characters.slice(-tail).join('');
    if (widthOf(cut) <= width) return cut;
  }
  return '…';
}
