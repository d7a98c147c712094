/** Runs a command and reads its output line by line, for the launcher's tests. */

export interface Launched {
  readonly pid: number;
  /** The next line of standard output, parsed as JSON; rejects at its end. */
  next(): Promise<unknown>;
  /** The next line as an object with this number in it. */
  number(member: string): Promise<number>;
  closeInput(): void;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the command itself has exited, even if other processes still hold its output. */
  gone(): Promise<void>;
  /** Resolves with the command's exit status and its whole standard error. */
  ended(): Promise<{ status: number | null; signal: string | number | null; stderr: string }>;
}

/** Starts a command; `cwd` and the extra environment are optional. */
export function launch(
  command: readonly string[],
  { cwd = process.cwd(), environment = {} }: { cwd?: string; environment?: Record<string, string> } = {},
): Launched {
  const started = Bun.spawn([...command], {
    cwd,
    env: { ...withoutRuntimeSettings(process.env), ...environment },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const lines = readLines(started.stdout);
  const stderr = new Response(started.stderr).text();
  const next = async (): Promise<unknown> => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`output of ${command.join(' ')} ended: ${await stderr}`);
    return JSON.parse(line.value);
  };
  return {
    pid: started.pid,
    next,
    async number(member) {
      const line = await next();
      const found = typeof line === 'object' && line !== null ? Reflect.get(line, member) : undefined;
      if (typeof found !== 'number') throw new Error(`expected ${member} in ${JSON.stringify(line)}`);
      return found;
    },
    closeInput: () => void started.stdin.end(),
    kill: (signal) => started.kill(signal),
    gone: async () => void (await started.exited),
    async ended() {
      await started.exited;
      const { exitCode: status, signalCode: signal } = started;
      return { status, signal, stderr: await stderr };
    },
  };
}

/** Removes what the test runner sets and the launcher must decide. */
function withoutRuntimeSettings(environment: NodeJS.ProcessEnv): Record<string, string> {
  const decided = /^(NODE_ENV|BUN_.*|NODE_CHANNEL_.*|.*_proxy|npm_lifecycle_event)$/i;
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !decided.test(name)) kept[name] = value;
  }
  return kept;
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of stream) {
    const parts = (held + decoder.decode(chunk, { stream: true })).split('\n');
    held = parts.pop() ?? '';
    yield* parts;
  }
}
