/**
 * Detects that `npm start` has exited. npm runs a script through a shell that does not forward its signals, so a killed
 * npm would leave the server running. Plain JavaScript that runs on an old Node.
 */
'use strict';

const fs = require('node:fs');

const LOOK_MS = 500;

/** The parent's process id; null if the system does not report it (it has no /proc) or the process is gone. */
function parentOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may itself contain spaces and parentheses.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}

/**
 * Calls `onGone` once when the shell that npm started this process with has exited, or (if /proc is available) npm
 * itself. Does nothing outside an npm script, where a parent may exit on purpose, and keeps no process alive.
 */
function watchNpm(onGone) {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
}

module.exports = { watchNpm };
