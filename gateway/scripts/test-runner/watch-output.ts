/**
 * Prints the output of a test run while it goes, file by file, so that parallel runs do not mix. Omits the lines of
 * passed tests, the empty lines around them and Bun's own summary. Tracks which file is running, and detects when the
 * run hangs.
 */

export interface OutputWatch {
  /** The file whose tests are running, as Bun names it; empty before the first. */
  file(): string;
  /**
   * Call when the process has ended: stops the clock and shows the remaining output, unless a process it left behind
   * holds the output open.
   */
  finish(): Promise<void>;
}

/** How long output may still arrive after the process has ended. */
const REST_MS = 1_000;

const PASSED = /^\((?:pass|skip)\)/;
/** Bun's output before the first test and after the last. */
const SUMS =
  /^(?:bun test v\S+ \(\w+\)| *\d+ (?:pass|fail|skip|todo|error|errors)| *\d+ expect\(\) calls|Ran \d+ tests? across .*)$/;
/** The end of a test's name, which may span several lines. */
const NAME_ENDS = /\[[\d.]+m?s\]$/;
const VERDICT = /^\((?:pass|skip|fail|todo)\)/;
const FILE = /^(\S+\.test\.ts):$/;

/**
 * Passes the lines of the streams to `show`, those of one test file together when the next one begins. Calls `onStill`
 * once if nothing arrived for `stillMs`: Bun's own limit per test cannot end one that never yields.
 */
export function watchOutput(
  streams: readonly ReadableStream<Uint8Array>[],
  show: (line: string) => void,
  stillMs: number,
  onStill: () => void,
): OutputWatch {
  let file = '';
  let quiet = true;
  let held = '';
  let title = '';
  let inPassedName = false;
  const showHeld = (): void => {
    if (held !== '') show(title + held);
    held = '';
  };
  const showLine = (line: string): void => {
    const bare = Bun.stripANSI(line);
    const header = FILE.exec(bare);
    if (header !== null) {
      showHeld();
      file = header[1] ?? file;
      title = `${line}\n`;
      quiet = true;
    }
    const isRestOfName = inPassedName && !VERDICT.test(bare) && header === null;
    inPassedName = (isRestOfName || bare.startsWith('(pass)')) && !NAME_ENDS.test(bare);
    if (isRestOfName || header !== null || PASSED.test(bare) || SUMS.test(bare) || (quiet && bare === '')) return;
    quiet = bare === '';
    held += `${line}\n`;
  };
  const timer = setTimeout(onStill, stillMs);
  const read = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stream) {
      timer.refresh();
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(showLine);
    }
    if (rest !== '') showLine(rest);
  };
  const ended = Promise.all(streams.map(read));
  return {
    file: () => file,
    async finish() {
      clearTimeout(timer);
      await Promise.race([ended, Bun.sleep(REST_MS)]);
      clearTimeout(timer);
      showHeld();
    },
  };
}
