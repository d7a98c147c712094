/** Runs a Python library in a process of its own, behind the view that all clients share. */
import { join } from 'node:path';
import { atEndOfRun } from '../../scripts/test-runner/end-of-run.ts';
import type { ClientAnswer, ClientDriver, Target, ToolRun } from '../e2e-clients/client-driver.ts';

const PYTHON = join(import.meta.dir, '.venv/bin/python');

/** An error of the library, with what its users read of it. */
interface Told {
  readonly type: string;
  readonly code: string | number | null;
  readonly message: string;
}

class PythonError extends Error {
  readonly type: Told['type'];
  readonly code: Told['code'];
  constructor({ type, code, message }: Told) {
    super(message);
    this.type = type;
    this.code = code;
  }
}

/** One process answers a line of JSON with another: its start takes longer than a call. */
function startPython(script: string) {
  const program = Bun.spawn([PYTHON, join(import.meta.dir, script)], { stdin: 'pipe', stdout: 'pipe' });
  atEndOfRun(async () => {
    program.kill();
    await program.exited;
  });
  const reader = program.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  return async (order: object): Promise<unknown> => {
    program.stdin.write(`${JSON.stringify(order)}\n`);
    await program.stdin.flush();
    while (!rest.includes('\n')) {
      const { value, done } = await reader.read();
      if (done) throw new Error('the Python process ended');
      rest += value;
    }
    const end = rest.indexOf('\n');
    const reply = JSON.parse(rest.slice(0, end));
    rest = rest.slice(end + 1);
    if (reply.error !== undefined) throw new PythonError(reply.error);
    return reply.result;
  };
}

/** The driver of a script of this folder, whose process starts with its first order. */
export function pythonDriver(
  script: string,
  { finished, isOverflow }: { readonly finished: string; isOverflow(error: Told): boolean },
): ClientDriver {
  let python: ReturnType<typeof startPython> | null = null;
  function order<Result>(name: string, target: Target, question: string, streamed = false): Promise<Result> {
    python ??= startPython(script);
    return python({ name, ...target, question, streamed }) as Promise<Result>;
  }
  return {
    finished,
    readsReasoning: true,
    countsAtStart: false,
    ask: (target, question) => order<ClientAnswer>('ask', target, question),
    askStreamed: (target, question) =>
      order<ClientAnswer & { readonly pieces: readonly string[] }>('ask_streamed', target, question),
    runTools: (target, question, streamed) => order<ToolRun>('run_tools', target, question, streamed),
    fillSchema: (target, question) => order('fill_schema', target, question),
    seesOverflow: (error) => error instanceof PythonError && isOverflow(error),
  };
}
