/** Owns what is shown of a test run while it goes: every line but those of passed tests and the empty ones around them. Knows which file is running, and when the run stands still. */

export interface OutputWatch {
  /** The file whose tests run now, as Bun names it; empty before the first. */
  file(): string;
  /** The process is gone: stops the clock and reads what is left, unless a process it left behind holds the output open. */
  finish(): Promise<void>;
}

/** How long the output of a process that is gone may still come. */
const REST_MS = 1_000;

const PASSED = /^\((?:pass|skip)\)/;
const FILE = /^(\S+\.test\.ts):$/;

/**
 * Copies the streams to `show`, line by line. Calls `onStill` once when nothing came for `stillMs`: Bun's own limit per
 * test cannot end one that never yields.
 */
export function watchOutput(
  streams: readonly ReadableStream<Uint8Array>[],
  show: (line: string) => void,
  stillMs: number,
  onStill: () => void,
): OutputWatch {
  let file = '';
  let quiet = true;
  const showLine = (line: string): void => {
    const bare = Bun.stripANSI(line);
    const header = FILE.exec(bare);
    file = header?.[1] ?? file;
    if (PASSED.test(bare) || (quiet && bare === '')) return;
    quiet = bare === '' || header !== null;
    show(`${line}\n`);
  };
  const timer = setTimeout(onStill, stillMs);
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    let held = '';
    for await (const chunk of stream) {
      timer.refresh();
      const lines = (held + decoder.decode(chunk, { stream: true })).split('\n');
      held = lines.pop() ?? '';
      lines.forEach(showLine);
    }
    if (held !== '') showLine(held);
  };
  const ended = Promise.all(streams.map(read));
  return {
    file: () => file,
    async finish() {
      clearTimeout(timer);
      await Promise.race([ended, Bun.sleep(REST_MS)]);
      clearTimeout(timer);
    },
  };
}
