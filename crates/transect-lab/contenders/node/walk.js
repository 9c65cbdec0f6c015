// Tree walks in Node.js: walk.js METHOD ROOT RUNS [check]. The protocol is in ../README.md.
'use strict';

const fs = require('node:fs');

// Paths are Latin-1 strings, one character per byte: as UTF-8, names that are none would not lead back to
// their files, and joining Buffers takes longer. A call gets the bytes.
const raw = (path) => Buffer.from(path, 'latin1');

const check = process.argv[5] === 'check';

// Adds an entry to the digest. As paths are Latin-1, the code of each character is a byte.
function note(path, tally, type, size) {
  const octets = [...Buffer.from(path.slice(tally.root.length + 1), 'latin1'), 0, type.charCodeAt(0)];
  for (let i = 0n; type === 'f' && i < 64n; i += 8n) octets.push(Number((BigInt(size) >> i) & 0xffn));
  let hash = 0xcbf29ce484222325n;
  for (const octet of octets) hash = BigInt.asUintN(64, (hash ^ BigInt(octet)) * 0x100000001b3n);
  tally.digest = BigInt.asUintN(64, tally.digest + hash);
}

function look(path, entry, tally, descend) {
  if (entry.isDirectory()) {
    descend(`${path}/${entry.name}`, tally);
  } else if (entry.isFile()) {
    try {
      const { size } = fs.lstatSync(raw(`${path}/${entry.name}`));
      tally.bytes += size;
      tally.files += 1;
      if (check) note(`${path}/${entry.name}`, tally, 'f', size);
    } catch {
      tally.errors += 1;
    }
  }
}

function readdir(path, tally) {
  let entries;
  tally.directories += 1;
  if (check) note(path, tally, 'd');
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
  if (check) note(path, tally, 'd');
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
    const top = Buffer.from(root).toString('latin1');
    if (check) Object.assign(tally, { digest: 0n, root: top });
    const before = process.cpuUsage();
    const start = process.hrtime.bigint();
    methods[name](top, tally);
    tally.elapsed_ns = Number(process.hrtime.bigint() - start);
    const { user, system } = process.cpuUsage(before);
    tally.cpu_ns = 1000 * (user + system);
    if (check) {
      tally.digest = tally.digest.toString(16).padStart(16, '0');
      delete tally.root;
    }
    // Straight to the descriptor: process.stdout may keep lines back.
    fs.writeSync(1, `${JSON.stringify(tally)}\n`);
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
