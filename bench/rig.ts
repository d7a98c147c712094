/** Starts and stops the bench's parts: the upstream's process, the subjects' processes and their scratch folder. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killAllGroups, startGroup } from './process/start-group.ts';
import { type RunningSubject, type Subject, type SubjectName, SubjectUnavailable } from './subjects/subject.ts';

const UPSTREAM_SCRIPT = fileURLToPath(new URL('upstream/main.ts', import.meta.url));
const UPSTREAM_START_MS = 10_000;

/** The launcher of the checkout that contains this file. */
export const OWN_TOLLGATE: string = fileURLToPath(new URL('../bin/tollgate', import.meta.url));

export interface Rig {
  readonly upstreamPort: number;
  readonly upstreamPid: number;
  /**
   * Starts one subject against the upstream. `command`: another launcher for a Tollgate. Throws SubjectUnavailable when
   * it cannot run on this machine.
   */
  start(subject: Subject, command?: string): Promise<RunningSubject>;
  /** Stops everything in reverse order, and removes the scratch folder. */
  stop(): Promise<void>;
}

/**
 * Starts the upstream; the subject `tollgate` uses the launcher `tollgateCommand`. If the bench exits without `stop`,
 * processes are still killed and the folder removed.
 */
export async function startRig(tollgateCommand: string): Promise<Rig> {
  const scratchDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const upstream = startGroup({ command: [process.execPath, UPSTREAM_SCRIPT, '0'] });
  const groups = [upstream];

  function cleanUp(): void {
    killAllGroups();
    rmSync(scratchDir, { recursive: true, force: true, maxRetries: 5 });
  }

  async function stop(): Promise<void> {
    for (const group of groups.reverse()) await group.stop();
    process.off('exit', cleanUp);
    cleanUp();
  }

  process.on('exit', cleanUp);

  try {
    const upstreamPort = Number((await upstream.waitForOutput(/listening (\d+)/, UPSTREAM_START_MS))[1]);
    return {
      upstreamPort,
      upstreamPid: upstream.pid,
      async start(subject, command = tollgateCommand) {
        const ownDir = join(scratchDir, `${subject.name}-${groups.length}`);
        mkdirSync(ownDir);
        const running = await subject.start({ upstreamPort, scratchDir: ownDir, tollgateCommand: command });
        groups.push(running.group);
        return running;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A subject that could not run on this machine, and the reason. */
export interface SkippedSubject {
  readonly subject: SubjectName;
  readonly reason: string;
}

/**
 * Starts the subjects that can run on this machine, and reports the others. Errors other than SubjectUnavailable
 * propagate.
 */
export async function startSubjects(
  rig: Rig,
  subjects: readonly Subject[],
): Promise<{ running: Map<Subject, RunningSubject>; skipped: SkippedSubject[] }> {
  const running = new Map<Subject, RunningSubject>();
  const skipped: SkippedSubject[] = [];
  for (const subject of subjects) {
    try {
      running.set(subject, await rig.start(subject));
    } catch (error) {
      if (!(error instanceof SubjectUnavailable)) throw error;
      skipped.push({ subject: subject.name, reason: error.message });
    }
  }
  return { running, skipped };
}
