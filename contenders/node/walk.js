// Tree walks in Node.js: walk.js METHOD ROOT RUNS. The protocol is in ../README.md.
'use strict';

const fs = require('node:fs');

// Paths are Latin-1 strings, one character per byte: as UTF-8, names that are none would not lead back to
// their files, and joining Buffers takes longer. A call gets the bytes.
const raw = (path) => Buffer.from(path, 'latin1');

function look(path, entry, tally, descend) {
  if (entry.isDirectory()) {
    descend(`${path}/${entry.name}`, tally);
  } else if (entry.isFile()) {
    try {
      tally.bytes += fs.lstatSync(raw(`${path}/${entry.name}`)).size;
      tally.files += 1;
    } catch {
      tally.errors += 1;
    }
  }
}

function readdir(path, tally) {
  let entries;
  tally.directories += 1;
  try {
    entries = fs.readdirSync(raw(path), { withFileTypes: true, encoding: 'latin1' });
  } catch {
    tally.errors += 1;
    return;
  }
  for (const entry of entries) look(path, entry, tally, readdir);
}

function opendir(path, tally) {
  let directory;
  tally.directories += 1;
  try {
    directory = fs.opendirSync(raw(path), { encoding: 'latin1' });
    for (let entry; (entry = directory.readSync()) !== null; ) look(path, entry, tally, opendir);
  } catch {
    tally.errors += 1;
  } finally {
    directory?.closeSync();
  }
}

const methods = { 'node-readdir': readdir, 'node-opendir': opendir };

function main([name, root, runs]) {
  if (!Object.hasOwn(methods, name)) {
    console.error('walk.js: unknown method:', name);
    return 2;
  }
  if (!fs.lstatSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    console.error('walk.js: not a directory:', root);
    return 1;
  }
  for (let run = 0; run < Number(runs); run += 1) {
    const tally = { files: 0, directories: 0, bytes: 0, errors: 0 };
    const start = process.hrtime.bigint();
    methods[name](Buffer.from(root).toString('latin1'), tally);
    tally.elapsed_ns = Number(process.hrtime.bigint() - start);
    // Straight to the descriptor: process.stdout may keep lines back.
    fs.writeSync(1, `${JSON.stringify(tally)}\n`);
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
