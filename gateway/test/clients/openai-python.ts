/** Runs OpenAI's Python SDK in a process of its own, behind the view that all clients share. */
import { join } from 'node:path';
import { atEndOfRun } from '../../scripts/test-runner/end-of-run.ts';
import type { ClientAnswer, ClientDriver, Target, ToolRun } from '../e2e-clients/client-driver.ts';

const PYTHON = join(import.meta.dir, '.venv/bin/python');

/** An error of the SDK, with what its users read of it. */
class PythonError extends Error {
  readonly type: string;
  readonly code: string | null;
  constructor({
    type,
    code,
    message,
  }: { readonly type: string; readonly code: string | null; readonly message: string }) {
    super(message);
    this.type = type;
    this.code = code;
  }
}

/** One process answers a line of JSON with another: its start takes longer than a call. */
function startPython() {
  const program = Bun.spawn([PYTHON, join(import.meta.dir, 'openai_sdk.py')], { stdin: 'pipe', stdout: 'pipe' });
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

let python: ReturnType<typeof startPython> | null = null;

function order<Result>(name: string, target: Target, question: string, streamed = false): Promise<Result> {
  python ??= startPython();
  return python({ name, ...target, question, streamed }) as Promise<Result>;
}

const responses: ClientDriver = {
  finished: 'completed',
  readsReasoning: true,
  countsAtStart: false,
  ask: (target, question) => order<ClientAnswer>('ask', target, question),
  askStreamed: (target, question) =>
    order<ClientAnswer & { readonly pieces: readonly string[] }>('ask_streamed', target, question),
  runTools: (target, question, streamed) => order<ToolRun>('run_tools', target, question, streamed),
  fillSchema: (target, question) => order('fill_schema', target, question),
  seesOverflow: (error) =>
    error instanceof PythonError && error.type === 'BadRequestError' && error.code === 'context_length_exceeded',
};

/** OpenAI's Python client for the Responses API, plain and with its stream helper. */
export const drivers: Readonly<Record<'responses', ClientDriver>> = { responses };
