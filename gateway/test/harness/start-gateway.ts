/** Starts a real gateway process for a test, with its own data folder, configuration and first key, and stops it. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLES, EXECUTABLE, HEADER_LIMIT } from '../../scripts/test-runner/bundle-programs.ts';
import { runProgramAt } from '../../src/cli/testing/run-program.ts';
import type { Reason } from '../../src/errors/reason.ts';
import type { AttemptRecord } from '../../src/store/ports/records.ts';

/** The gateway's program: the bundle of the test run, else the source. */
export const GATEWAY_PROGRAM =
  process.env[BUNDLES] === undefined
    ? join(import.meta.dir, '../../src/main.ts')
    : join(process.env[BUNDLES], 'main.js');
const EXECUTABLE_FILE = join(process.env[BUNDLES] ?? '', EXECUTABLE);
/** The command that starts it as a server: the executable file of the test run, where there is one. */
const SERVER =
  process.env[BUNDLES] !== undefined && existsSync(EXECUTABLE_FILE)
    ? [EXECUTABLE_FILE]
    : [process.execPath, HEADER_LIMIT, GATEWAY_PROGRAM];
const KEY = /tg_[0-9A-Za-z]{49}/;
const LISTENS = /listens on (http:\/\/\S+)/;
const START_MS_MAX = 60_000;

export interface GatewayPlan {
  /** Configuration as an object; written as JSON, which is valid YAML. Default: no file. */
  readonly config?: object;
  /** Data folder of an earlier gateway; then there is no first key. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: any free port. */
  readonly port?: number;
  /** Soft and hard limit of file descriptors; default: this process's. */
  readonly openFilesMax?: number;
}

/** A gateway that listens. */
export interface RunningGateway {
  readonly url: string;
  /** The first key; empty on a folder that was started before. */
  readonly key: string;
  readonly dataDir: string;
  readonly configFile: string;
  readonly pid: number;
  /** Its output so far. */
  stdout(): string;
  stderr(): string;
  /** Runs a command of the command line on the same folder, in this process: a process would cost 0.2 s of CPU time. */
  run(...words: string[]): Promise<CommandResult>;
  /** Runs a command as a user does, in its own process. */
  runProcess(...words: string[]): Promise<CommandResult>;
  /**
   * Returns the records on disk, newest first, as `calls --json` prints them.
   */
  calls(...flags: string[]): Promise<CallLine[]>;
  /** Sends a signal; `exited` resolves with the exit status. */
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<number>;
  /** Stops the gateway without the wait for load balancers, and deletes the folder unless `keepData`. */
  stop(keepData?: boolean): Promise<number>;
}

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One line of `calls --json`. */
export interface CallLine {
  readonly request_id: string;
  readonly key_name: string | null;
  readonly status: number;
  readonly error: string | null;
  readonly model: string | null;
  readonly served_model: string | null;
  readonly protocol: string;
  readonly stream: boolean;
  readonly finish_reason: string | null;
  readonly end_user: string | null;
  readonly session: string | null;
  /** Only of a request in a trace. */
  readonly trace_id?: string;
  readonly usage: Readonly<Record<string, number>>;
  readonly usage_source: string;
  /** Only for anomalies. */
  readonly usage_flags?: readonly string[];
  readonly price_version: string | null;
  readonly cost_nano_usd: string | null;
  /** Only if the call failed, was refused or was cut off. */
  readonly reason?: Reason;
  readonly ttfb_ms: number | null;
  readonly duration_ms: number;
  readonly attempts: readonly AttemptRecord[];
}

/** Starts a gateway on a free port. Throws with its output if it does not start. */
export async function startGateway(plan: GatewayPlan = {}): Promise<RunningGateway> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
  const dataDir = plan.dataDir ?? join(home, 'data');
  const configFile = join(home, 'tollgate.yaml');
  if (plan.config !== undefined) writeFileSync(configFile, JSON.stringify(plan.config));
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    NODE_ENV: 'production',
    BUN_CONFIG_MAX_HTTP_REQUESTS: '65535',
    TOLLGATE_DATA_DIR: dataDir,
    ...plan.environment,
  };
  const flags = plan.config === undefined ? [] : ['--config', configFile];
  const limited =
    plan.openFilesMax === undefined ? [] : ['sh', '-c', 'ulimit -n "$0"; exec "$@"', String(plan.openFilesMax)];
  const server = [...SERVER, 'serve', '--port', String(plan.port ?? 0)];
  const started = Bun.spawn([...limited, ...server, ...flags], {
    cwd: home,
    env: environment,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const stdout = gather(started.stdout);
  const stderr = gather(started.stderr);
  const url = await waitFor(() => LISTENS.exec(stdout.text())?.[1] ?? null, started.exited);
  if (url === null) {
    started.kill('SIGKILL');
    throw new Error(`the gateway did not start:\n${stdout.text()}\n${stderr.text()}`);
  }
  // The key follows in the same write as the address; only a first start prints one.
  const key = KEY.exec(stdout.text())?.[0] ?? '';
  const run = async (...words: string[]): Promise<CommandResult> => {
    const { exitCode, stdout, stderr } = await runProgramAt(Date.now, dataDir, words);
    return { status: exitCode, stdout, stderr };
  };
  return {
    url,
    key,
    dataDir,
    configFile,
    pid: started.pid,
    stdout: stdout.text,
    stderr: stderr.text,
    run,
    runProcess: (...words) => runCommand(words, home, environment),
    async calls(...words) {
      const { status, stdout, stderr } = await run('calls', '--json', '--limit', '100000', ...words);
      if (status !== 0) throw new Error(`calls ended with ${status}: ${stderr}`);
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as CallLine);
    },
    signal: (name) => started.kill(name),
    exited: started.exited,
    async stop(keepData = false) {
      started.kill('SIGINT');
      const hurry = setTimeout(() => started.kill('SIGKILL'), 15_000);
      const status = await started.exited;
      clearTimeout(hurry);
      if (!keepData) rmSync(home, { recursive: true, force: true });
      return status;
    },
  };
}

async function runCommand(words: string[], cwd: string, env: Record<string, string>): Promise<CommandResult> {
  const command = Bun.spawn([process.execPath, GATEWAY_PROGRAM, ...words], {
    cwd,
    env,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, status] = await Promise.all([
    new Response(command.stdout).text(),
    new Response(command.stderr).text(),
    command.exited,
  ]);
  return { status, stdout, stderr };
}

function gather(stream: ReadableStream<Uint8Array>): { text(): string } {
  let text = '';
  const decoder = new TextDecoder();
  void (async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  })();
  return { text: () => text };
}

/** Polls until `look` returns a value; null if the process ended or the time is up. */
async function waitFor(look: () => string | null, exited: Promise<number>): Promise<string | null> {
  let over = false;
  void exited.then(() => {
    over = true;
  });
  const endMs = performance.now() + START_MS_MAX;
  while (!over && performance.now() < endMs) {
    const found = look();
    if (found !== null) return found;
    await Bun.sleep(10);
  }
  return look();
}
