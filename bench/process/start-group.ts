/** Starts the bench's processes, each as the leader of a process group, and makes sure that none outlives the bench. */
import { fileURLToPath } from 'node:url';
import { maskKeys } from './mask-keys.ts';

const OUTPUT_CHARS_MAX = 65_536;
const STOP_MS = 5000;
const LAST_OUTPUT_MS = 200;

export interface GroupCommand {
  readonly command: readonly string[];
  /** Added to the few variables that every group gets; the rest of the caller's environment is not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: Blob;
}

export interface Group {
  /** The leader's pid, which is also the group id. */
  readonly pid: number;
  /** Resolves with the exit status once the last output was read. */
  readonly exited: Promise<number>;
  /** The most recent output, both streams in order of arrival, keys masked; for messages. */
  outputTail(): string;
  /** Resolves with the first match in the output; rejects when the process ends without one or after `timeoutMs`. */
  waitForOutput(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray>;
  /** SIGTERM to the whole group, SIGKILL after five seconds; resolves when the leader is gone. */
  stop(): Promise<void>;
}

/** Environment of every group: no credentials, no proxies, nothing that changes a subject's behavior. */
function baseEnvironment(): Record<string, string> {
  const kept: Record<string, string> = { NODE_ENV: 'production', BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' };
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'LANG']) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

const live = new Set<number>();
let guard: Bun.Subprocess<'pipe', 'ignore', 'ignore'> | undefined;

function tellGuard(line: string): void {
  if (guard === undefined) {
    const script = fileURLToPath(new URL('guard.ts', import.meta.url));
    guard = Bun.spawn([process.execPath, script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    guard.unref();
  }
  guard.stdin.write(`${line}\n`);
  guard.stdin.flush();
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no process left.
  }
}

/** Kills every running group immediately; for the exit of the bench, for whatever reason. */
export function killAllGroups(): void {
  for (const pid of live) signalGroup(pid, 'SIGKILL');
}

/** Starts a process in its own group. Throws when the command does not exist. */
export function startGroup({ command, env = {}, cwd, stdin }: GroupCommand): Group {
  const listeners = new Set<() => void>();
  let output = '';
  let openStreams = 2;

  const child = Bun.spawn([...command], {
    env: { ...baseEnvironment(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: [stdin ?? 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  live.add(child.pid);
  tellGuard(`+${child.pid}`);
  const exited = child.exited.finally(() => {
    signalGroup(child.pid, 'SIGKILL');
    live.delete(child.pid);
    tellGuard(`-${child.pid}`);
  });

  async function collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      output = (output + decoder.decode(bytes, { stream: true })).slice(-OUTPUT_CHARS_MAX);
      for (const listener of listeners) listener();
    }
    openStreams -= 1;
    for (const listener of listeners) listener();
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);

  function outputTail(): string {
    return maskKeys(output.trimEnd().split('\n').slice(-8).join('\n'));
  }

  function waitForOutput(pattern: RegExp, timeoutMs: number): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const give = (settle: () => void) => {
        clearTimeout(timer);
        listeners.delete(look);
        settle();
      };
      const look = () => {
        const found = pattern.exec(output);
        if (found !== null) give(() => resolve(found));
        else if (openStreams === 0)
          give(() => reject(new Error(`ended without printing ${pattern}:\n${outputTail()}`)));
      };
      const timer = setTimeout(() => {
        give(() => reject(new Error(`did not print ${pattern} within ${timeoutMs} ms:\n${outputTail()}`)));
      }, timeoutMs);
      listeners.add(look);
      look();
    });
  }

  async function stop(): Promise<void> {
    signalGroup(child.pid, 'SIGTERM');
    const timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), STOP_MS);
    await exited;
    clearTimeout(timer);
  }

  /** The group is killed with its leader, so its output ends at once, unless a child left the group. */
  async function endOfOutput(): Promise<number> {
    const status = await exited;
    await Promise.race([collected, Bun.sleep(LAST_OUTPUT_MS)]);
    return status;
  }

  return { pid: child.pid, exited: endOfOutput(), outputTail, waitForOutput, stop };
}
