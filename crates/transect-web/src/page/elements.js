// Elements. What comes from outside goes into them as text, and in no other way.

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

/** A name in which nothing is hidden: what ends lines or turns the direction of writing is spelt out. */
function visible(text) {
  const spelt = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, spelt);
}

/** A name: whatever direction it is written in, what is beside it keeps its own. */
function named(text) {
  return h('bdi', { class: 'name' }, visible(text));
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
