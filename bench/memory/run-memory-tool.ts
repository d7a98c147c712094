/** Provides the command line of both memory tools: chooses the gateway, prints the result. */
import { parseArgs } from 'node:util';
import { exitOnSignals } from '../process/exit-on-signals.ts';
import { CALL_PATH } from '../protocol.ts';
import { OWN_TOLLGATE, startRig } from '../rig.ts';
import { SUBJECTS } from '../subjects/subjects.ts';
import type { StreamTarget } from './open-stream.ts';

/** A running gateway, and the leader of its process group. */
export interface MemoryTarget extends StreamTarget {
  readonly pid: number;
}

interface Flags {
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly pid: string | undefined;
  readonly subject: string | undefined;
  readonly count: string | undefined;
  readonly seconds: string | undefined;
}

/** The memory tools open chat streams. */
const CHAT_SUBJECTS = SUBJECTS.filter(({ protocol }) => protocol === 'chat');

const USAGE_TEXT = `  --subject NAME   start the upstream and this subject (default tollgate):
                   ${CHAT_SUBJECTS.map(({ name }) => name).join(', ')}
  --url URL        or look at a gateway that runs: http://127.0.0.1:PORT, its upstream being the bench's
  --key KEY        its API key (or TOLLGATE_KEY in the environment)
  --pid PID        its process
  --count N        streams or readers, 1 to 20000
  --seconds N      how long they stay, 0.1 to 120`;

function parseBounded(flag: string, text: string | undefined, fallback: number, least: number, most: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (value >= least && value <= most) return value;
  throw new Error(`${flag}: found "${text}", expected a number from ${least} to ${most}\n${USAGE_TEXT}`);
}

function parseRunning(flags: Flags): MemoryTarget {
  const match = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d+)(?:\/v1)?\/?$/.exec(flags.url ?? '');
  if (match === null) throw new Error(`--url: found "${flags.url}", expected http://127.0.0.1:PORT\n${USAGE_TEXT}`);
  const key = flags.key ?? process.env.TOLLGATE_KEY;
  return {
    port: Number(match[1]),
    path: CALL_PATH.chat,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    pid: parseBounded('--pid', flags.pid ?? '', 0, 1, 2 ** 22),
  };
}

async function runOnSubject<Result>(name: string, run: (target: MemoryTarget) => Promise<Result>): Promise<Result> {
  const subject = CHAT_SUBJECTS.find((one) => one.name === name);
  if (subject === undefined) throw new Error(`--subject: found "${name}"\n${USAGE_TEXT}`);
  const rig = await startRig(OWN_TOLLGATE);
  try {
    const { group, port, headers } = await rig.start(subject);
    return await run({ port, path: CALL_PATH.chat, headers, pid: group.pid });
  } finally {
    await rig.stop();
  }
}

/**
 * Parses the command line, runs the tool on the chosen gateway, and prints the result as JSON on standard output. Exits
 * with status 2 and a message on failure. `count` and `seconds` are the tool's defaults.
 */
export async function runMemoryTool<Result>(
  defaults: { readonly count: number; readonly seconds: number },
  run: (target: MemoryTarget, count: number, durationMs: number) => Promise<Result>,
): Promise<void> {
  exitOnSignals();
  try {
    const text = { type: 'string' } as const;
    const options = { url: text, key: text, pid: text, subject: text, count: text, seconds: text };
    const { values } = parseArgs({ options });
    const flags: Flags = { ...EMPTY_FLAGS, ...values };
    const count = parseBounded('--count', flags.count, defaults.count, 1, 20_000);
    const durationMs = parseBounded('--seconds', flags.seconds, defaults.seconds, 0.1, 120) * 1000;
    const runOn = (target: MemoryTarget) => run(target, count, durationMs);
    const result =
      flags.url === undefined
        ? await runOnSubject(flags.subject ?? 'tollgate', runOn)
        : await runOn(parseRunning(flags));
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    process.exitCode = 0;
  } catch (error) {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 2;
  }
}

const EMPTY_FLAGS: Flags = {
  url: undefined,
  key: undefined,
  pid: undefined,
  subject: undefined,
  count: undefined,
  seconds: undefined,
};
