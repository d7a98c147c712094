/**
 * Finds the Bun binary that npm installed below a node_modules folder. Plain JavaScript that runs on an old Node;
 * starts nothing.
 */
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const BINARY_BYTES_MIN = 1024 * 1024;
/** First bytes of ELF, Mach-O (64 bit, universal) and PE files. */
const BINARY_MAGICS = ['7f454c46', 'cffaedfe', 'cafebabe', '4d5a'];
const BUN_ARCHITECTURES = { arm64: 'aarch64', x64: 'x64' };
const GLIBC_LOADERS = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1', '/lib64/ld-linux-aarch64.so.1'];

/** Whether the file is a program rather than the placeholder text left if npm ran no install script. */
function isBinary(file) {
  let descriptor;
  try {
    descriptor = fs.openSync(file, 'r');
    if (fs.fstatSync(descriptor).size < BINARY_BYTES_MIN) return false;
    const head = Buffer.alloc(4);
    fs.readSync(descriptor, head, 0, 4, 0);
    return BINARY_MAGICS.some((magic) => head.toString('hex').startsWith(magic));
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
    throw error;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/**
 * Names of the packages that can hold Bun for a machine, the best first.
 * @param {{ platform: string, arch: string, musl: boolean }} machine as `process.platform`, `process.arch`
 */
function bunPackages({ platform, arch, musl }) {
  const architecture = BUN_ARCHITECTURES[arch] || arch;
  if (platform === 'android') return [`@oven/bun-linux-${architecture}-android`];
  const base = `@oven/bun-${platform === 'win32' ? 'windows' : platform}-${architecture}`;
  const names = platform === 'linux' ? [base, `${base}-musl`] : [base];
  if (musl) names.reverse();
  return names.concat(names.map((name) => `${name}-baseline`));
}

/** The node_modules folders that code in `directory` may load from, the nearest first. */
function moduleFolders(directory) {
  const folders = [];
  for (let current = path.resolve(directory); ; current = path.dirname(current)) {
    if (path.basename(current) !== 'node_modules') folders.push(path.join(current, 'node_modules'));
    if (current === path.dirname(current)) return folders;
  }
}

/**
 * Possible locations of a package relative to `bun`: nested in it, hoisted, or next to its real path if it is a link.
 */
function neighbourFolders(folder) {
  const nested = path.join(folder, 'bun', 'node_modules');
  try {
    return [nested, folder, path.dirname(fs.realpathSync(path.join(folder, 'bun')))];
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [nested, folder];
    throw error;
  }
}

/** The machine that this process runs on; musl is a Linux without the loader of glibc. */
function thisMachine() {
  const musl = process.platform === 'linux' && !GLIBC_LOADERS.some((loader) => fs.existsSync(loader));
  return { platform: process.platform, arch: process.arch, musl };
}

/**
 * Path of the Bun binary for code in `directory`, or null. Checks where the install script moves it, then the platform
 * package it is moved from (npm 12 runs no install scripts).
 */
function findBun(directory, machine = thisMachine()) {
  const executable = machine.platform === 'win32' ? 'bun.exe' : 'bun';
  for (const folder of moduleFolders(directory)) {
    const moved = path.join(folder, 'bun', 'bin', 'bun.exe');
    if (isBinary(moved)) return moved;
    for (const name of bunPackages(machine)) {
      for (const neighbour of neighbourFolders(folder)) {
        const packaged = path.join(neighbour, name, 'bin', executable);
        if (isBinary(packaged)) return packaged;
      }
    }
  }
  return null;
}

/** The message for a user whose machine has no binary below `directory`. */
function explainMissingBun(directory, machine = thisMachine()) {
  return [
    `tollgate: the Bun runtime was not found for ${machine.platform} ${machine.arch}.`,
    `  looked for: bun/bin/bun.exe and ${bunPackages(machine)[0]} in ${moduleFolders(directory)[0]} and the folders above it`,
    '  what to do: run `npm ci` in the folder of package-lock.json, without --omit=optional and without --no-optional,',
    '              then start again. A node_modules folder copied from another kind of machine does not work.',
  ].join('\n');
}

module.exports = { bunPackages, explainMissingBun, findBun, thisMachine };
