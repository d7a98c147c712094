/** Runs one headless session of Claude Code with its own home and environment, and ends all of its processes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A session takes half a second, and more on a busy machine; one that retries forever after an error is ended. */
const SESSION_MS_MAX = 50_000;

/** One line of `--output-format stream-json`, with the members that the tests read. */
export interface SessionLine {
  readonly type: string;
  readonly subtype?: string;
  readonly is_error?: boolean;
  readonly result?: string;
  readonly num_turns?: number;
  readonly usage?: Readonly<Record<string, unknown>>;
  readonly permission_denials?: readonly unknown[];
}

export interface Session {
  /** Null if it had to be ended. */
  readonly status: number | null;
  readonly lines: readonly SessionLine[];
  readonly stderr: string;
}

/** A folder for sessions, both home and working directory, with these files. */
export interface SessionFolder {
  readonly path: string;
  remove(): void;
}

export function makeSessionFolder(files: Readonly<Record<string, string | Uint8Array>>): SessionFolder {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-claude-code-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface SessionPlan {
  readonly program: string;
  readonly folder: SessionFolder;
  readonly prompt: string;
  readonly model: string;
  readonly baseUrl: string;
  /** The credential as `ANTHROPIC_AUTH_TOKEN` or `ANTHROPIC_API_KEY`, and other user settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** In the form of `--allowedTools`. */
  readonly allowedTools: string;
}

/** Runs a session to its end. Processes that it leaves running are ended too: it leads a process group of its own. */
export async function runClaudeCode(plan: SessionPlan): Promise<Session> {
  const home = plan.folder.path;
  const flags = ['--output-format', 'stream-json', '--verbose', '--model', plan.model];
  const running = Bun.spawn([plan.program, '-p', plan.prompt, ...flags, '--allowedTools', plan.allowedTools], {
    cwd: home,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      ANTHROPIC_BASE_URL: plan.baseUrl,
      ...plan.environment,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    detached: true,
  });
  const late = setTimeout(() => endGroup(running.pid), SESSION_MS_MAX);
  try {
    const [stdout, stderr] = await Promise.all([
      new Response(running.stdout).text(),
      new Response(running.stderr).text(),
      running.exited,
    ]);
    const lines = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as SessionLine);
    return { status: running.exitCode, lines, stderr };
  } finally {
    clearTimeout(late);
    endGroup(running.pid);
  }
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // ESRCH: no process of the group is left, as intended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
