// Where the page is served: the program ends when nobody looks any more. The page holds all its data, and
// goes on without it.

const stillHere = setInterval(() => {
  fetch('alive', { cache: 'no-store' }).catch(() => clearInterval(stillHere));
}, 10000);
