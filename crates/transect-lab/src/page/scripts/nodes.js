// Elements. What comes from the session goes into them as text, and in no other way.

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') node.addEventListener(key, value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** An element of the page: attributes, functions for its events, children. */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of a drawing. */
function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** A name in which nothing is hidden: what ends lines or turns the direction of writing is spelt out. */
function visible(text) {
  const spelt = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, spelt);
}

/** A name: whatever direction it is written in, what is beside it keeps its own. */
function named(text) {
  return h('bdi', { class: 'name' }, visible(text));
}

/** A card with a title, a line that says how to read it, and controls. */
function card(id, title, about, ...controls) {
  const body = h('div', { class: 'body' });
  const head = h('div', { class: 'card-head' },
    h('div', {}, h('h2', { id: `${id}-title` }, title), h('p', { class: 'about' }, about)),
    h('div', { class: 'controls' }, controls));
  const section = h('section', { class: 'card', id, 'aria-labelledby': `${id}-title` }, head, body);
  return { section, body };
}

/** Some buttons of which one is pressed: [value, label] each. */
function choice(label, options, current, pick) {
  const buttons = options.map(([value, text]) => h('button', {
    type: 'button', 'data-value': value, 'aria-pressed': String(value === current),
    click: () => pick(value),
  }, text));
  return h('div', { class: 'choice', role: 'group', 'aria-label': label }, buttons);
}

const ruler = document.createElement('canvas').getContext('2d');

/** How wide a text of the drawings is, in pixels. */
function widthOf(text, font = '12px system-ui, sans-serif') {
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** A text that fits, cut in the middle: a name is told by where it begins and where it ends. */
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

/** Puts a text where a user can paste it from; tells whether that worked. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages from files may not: the old way asks nobody.
    const area = h('textarea', { class: 'off-screen', readonly: true });
    area.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** A button that copies, and says so. */
function copyButton(label, text) {
  const button = h('button', { type: 'button', class: 'quiet' }, label);
  button.addEventListener('click', async () => {
    button.textContent = (await copy(text())) ? 'Copied' : 'Cannot copy here';
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}
