/** Declares the types of find-bun.cjs, which is plain JavaScript so that an old Node can run it. */

/** A machine as `process.platform` and `process.arch` name it; `musl`: a Linux whose C library is musl. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly musl: boolean;
}

export function bunPackages(machine: Machine): string[];
export function thisMachine(): Machine;
export function findBun(directory: string, machine?: Machine): string | null;
export function explainMissingBun(directory: string, machine?: Machine): string;
