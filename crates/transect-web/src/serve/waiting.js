'use strict';
// Asks how far it is, until the page is there that comes in place of this one.

async function look() {
  try {
    const progress = await (await fetch('progress', { cache: 'no-store' })).json();
    if (progress.is_there) {
      location.reload();
      return;
    }
    document.getElementById('entries').textContent = progress.entries.toLocaleString('en');
    document.getElementById('told').textContent = 'entries so far';
  } catch {
    document.getElementById('told').textContent = 'transect has ended before the tree was read.';
    return;
  }
  setTimeout(look, 200);
}
look();
