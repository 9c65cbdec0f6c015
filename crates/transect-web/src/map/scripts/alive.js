// Pages that the program serves as they are: they report that they are open, or the program would end.

/** Milliseconds between reports. */
const REPORT_INTERVAL = 10000;

const reports = setInterval(() => {
  // Once the program has ended, the page works without it.
  fetch('alive', { cache: 'no-store' }).catch(() => clearInterval(reports));
}, REPORT_INTERVAL);
