/** Runs scripts in a process that may open only a few files. */

const FILL = `
  import { closeSync as closeNow, openSync as openNow } from 'node:fs';
  const filled = [];
  const fill = () => {
    try {
      for (;;) filled.push(openNow('/dev/null', 'r'));
    } catch {}
  };
  const free = () => filled.splice(0).forEach((file) => closeNow(file));
`;

export interface FinishedScript {
  /** Of standard output, then of standard error. */
  readonly output: string;
  readonly exitCode: number;
}

/** `script` is a module. It may call `fill()`, which takes all descriptors, and `free()`, which gives them back. */
export function runWithFewDescriptors(script: string, most = 128): FinishedScript {
  const command = ['sh', '-c', `ulimit -n ${most}; exec "$0" -e "$1"`, process.execPath, `${FILL}${script}`];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command);
  return { output: `${stdout}${stderr}`, exitCode };
}
