// Creates elements. Data is only ever inserted as text.

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') node.addEventListener(key, value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** Creates an HTML element with attributes, event handlers and children. */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** A name with control characters and direction marks as visible escapes. */
function visible(text) {
  const spelt = (character) => `\\u{${character.codePointAt(0).toString(16)}}`;
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, spelt);
}

/** A name that does not affect the text direction around it. */
function named(text) {
  return h('bdi', { class: 'name' }, visible(text));
}

/** Copies a text to the clipboard; returns whether it worked. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not permitted for local files; the older method is.
    const area = h('textarea', { class: 'off-screen', readonly: true });
    area.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

/** A button that copies, and confirms it. */
function copyButton(label, text) {
  const button = h('button', { type: 'button', class: 'quiet' }, label);
  button.addEventListener('click', async () => {
    button.textContent = (await copy(text())) ? 'Copied' : 'Cannot copy here';
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}
