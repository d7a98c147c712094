/**
 * Runs a script of this repository with its Bun binary, under any Node version that npm uses: `node run-bun.cjs SCRIPT
 * ARGUMENTS`.
 */
'use strict';

const { spawn } = require('node:child_process');
const { findBun, explainMissingBun } = require('../bin/find-bun.cjs');

const bun = findBun(__dirname);
if (bun === null) {
  process.stderr.write(`${explainMissingBun(__dirname)}\n`);
  process.exit(1);
}
const script = spawn(bun, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => script.kill(signal));
script.on('exit', (status, signal) => {
  if (signal !== null) process.stderr.write(`run-bun: ended by ${signal}\n`);
  process.exit(status === null ? 1 : status);
});
