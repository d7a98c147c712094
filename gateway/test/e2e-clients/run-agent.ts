/** Runs one headless session of a coding agent in a folder of its own, and ends all of its processes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A session takes half a second, and more on a busy machine; one that retries forever after an error is ended. */
const SESSION_MS_MAX = 50_000;

/** A folder for sessions, both home and working directory. */
export interface SessionFolder {
  readonly path: string;
  remove(): void;
}

/** Makes a folder with these files. */
export function makeSessionFolder(files: Readonly<Record<string, string | Uint8Array>>): SessionFolder {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-agent-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Where an agent runs, and what it is asked. */
export interface AgentPlan {
  readonly program: string;
  readonly folder: SessionFolder;
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
}

export interface AgentRun {
  /** Null if it had to be ended. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end. Processes that it leaves running are ended too: it leads a process group of its own. */
export async function runAgent(
  command: readonly string[],
  folder: SessionFolder,
  environment: Readonly<Record<string, string>>,
): Promise<AgentRun> {
  const running = Bun.spawn([...command], {
    cwd: folder.path,
    env: { PATH: process.env.PATH ?? '', HOME: folder.path, ...environment },
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
    return { status: running.exitCode, stdout, stderr };
  } finally {
    clearTimeout(late);
    endGroup(running.pid);
  }
}

/** Parses what an agent prints as one JSON object per line. */
export function parseLines<Line>(stdout: string): Line[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // ESRCH: no process of the group is left, as intended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
