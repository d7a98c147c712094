/**
 * Tests that a translated stream whose upstream dies at any byte is never taken for a complete answer. Vectors 29 and
 * 30. Cuts at every eighth byte, and at each byte around those where the outcome changes; with TOLLGATE_EXHAUSTIVE at
 * every byte.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { CallLine } from '../harness/start-gateway.ts';
import type { Pair } from '../harness/start-pair.ts';
import {
  type Answer,
  ask,
  EXHAUSTIVE,
  endsInError,
  hasTerminal,
  PROTOCOLS,
  type ProtocolName,
  recordsById,
} from './calls.ts';
import { SHORT, startTranslated, translatedModel, UPSTREAM_OF } from './translated-rig.ts';

const LANES = 8;
const STEP = EXHAUSTIVE ? 1 : 8;
/** Distance in bytes around a change of outcome within which every byte is cut. */
const TURN_BYTES = 3;
/** `closed`: the end of the connection is the end of the body, so HTTP sees no fault. */
const HOWS = ['fin', 'rst', 'closed'] as const;

interface Cut {
  readonly client: ProtocolName;
  readonly at: number;
  readonly how: (typeof HOWS)[number];
  readonly sent: string;
  /** End of the first record with content: until there no answer has begun. */
  readonly beganAt: number;
  /** End of the record that makes the answer complete. */
  readonly wholeAt: number;
}

let pair: Pair;
beforeAll(async () => {
  const lanes = Array.from({ length: LANES }, (_, lane) => `lane-${lane}`);
  // A cut before the content ends its call, without another attempt.
  pair = await startTranslated(lanes, { routing: { max_extra_attempts: 0 } });
});
afterAll(() => pair.stop());

/** From no byte to all but the last. */
function cutsFor(client: ProtocolName): Cut[] {
  const { records, whole } = SHORT[UPSTREAM_OF[client]];
  const bytes = Buffer.from(records.join(''));
  const beganAt = bytes.indexOf('\n\n', bytes.indexOf('Hm')) + 2;
  const wholeAt = bytes.indexOf('\n\n', bytes.indexOf(whole)) + 2;
  const completeAt = bytes.length - 1;
  const turns = [0, beganAt, wholeAt, completeAt];
  return Array.from({ length: completeAt + 1 }, (_, at) => at)
    .filter((at) => at % STEP === 0 || turns.some((turn) => Math.abs(at - turn) <= TURN_BYTES))
    .flatMap((at) => HOWS.map((how) => ({ client, at, how, sent: bytes.toString('utf8', 0, at), beganAt, wholeAt })));
}

/**
 * Chat completions may lack the final `[DONE]` after the finish reason; messages may not lack their last event
 * (contract, 5). A record with a complete line counts even without its blank line.
 */
function mayBeComplete({ how, at, wholeAt }: Cut): boolean {
  return how === 'closed' && at >= wholeAt - 2;
}

/** Returns the violation of the contract on the client's side, or null. */
function wrongAnswer(cut: Cut, { status, text, broken }: Answer): string | null {
  if (broken) return 'the connection broke';
  if (mayBeComplete(cut) && hasTerminal(cut.client, text)) return null;
  if (hasTerminal(cut.client, text)) return 'the client was told that it is complete';
  if (status === 200) return endsInError(cut.client, text) ? null : `no in-band error at the end: ${text.slice(-200)}`;
  if (cut.at >= cut.beganAt) return `status ${status}, expected 200`;
  const reply = JSON.parse(text) as { readonly error?: { readonly type?: string } };
  return status === 500 && reply.error?.type === 'api_error' ? null : `status ${status}: ${text}`;
}

const PRODUCED = {
  chat: /"(?:content|reasoning_content)":"[^"]|"arguments":"[^"]/,
  messages: /"(?:text|thinking|partial_json)": ?"[^"]/,
};

/** Returns the violation of the table of endings in the record, or null. */
function wrongRecord(cut: Cut, { status, text }: Answer, record: CallLine | undefined): string | null {
  if (record === undefined) return 'no record';
  if (record.status !== status) return `a record of status ${record.status}, expected ${status}`;
  if (hasTerminal(cut.client, text)) return record.error === null ? null : `the record says ${record.error}`;
  if (record.error === null) return 'the record has no error';
  if (status !== 200) return record.usage_source === 'void' ? null : `${record.usage_source}, expected void`;
  if (!PRODUCED[cut.client].test(text)) return null;
  return record.usage_source === 'partial' ? null : `${record.usage_source}, expected partial`;
}

test('a translated stream that is cut at any byte is an error with a record, never a success', async () => {
  const waiting = PROTOCOLS.flatMap(cutsFor);
  const total = waiting.length;
  const answered: [Cut, Answer][] = [];
  const work = async (lane: number) => {
    for (let cut = waiting.pop(); cut !== undefined; cut = waiting.pop()) {
      const { client, at, how } = cut;
      const model = translatedModel(client, `lane-${lane}`);
      const end = { at, how: how === 'rst' ? how : 'fin' } as const;
      const framing = how === 'closed' ? 'close' : 'chunked';
      pair.fake.script(model, { records: SHORT[UPSTREAM_OF[client]].records, cut: end, framing });
      answered.push([cut, await ask(pair.gateway, { protocol: client, model, stream: true })]);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => work(lane)));
  const records = await recordsById(pair.gateway);
  const wrong = answered.flatMap(([cut, answer]) => {
    const problems = [wrongAnswer(cut, answer), wrongRecord(cut, answer, records.get(answer.requestId))];
    return problems.flatMap((problem) =>
      problem === null
        ? []
        : [`${cut.client} client, ${cut.how} at byte ${cut.at} (…${cut.sent.slice(-30)}): ${problem}`],
    );
  });
  console.log(`translated cuts: ${answered.length}`);
  expect(answered.length).toBe(total);
  expect(wrong).toEqual([]);
  expect(records.size).toBe(total);
});

test.each([
  ['chat', false],
  ['messages', true],
] as const)('%s: uncut it is complete; where only the last word is missing: %p', async (client, completed) => {
  const { records } = SHORT[UPSTREAM_OF[client]];
  const model = translatedModel(client, 'lane-0');
  for (const [sent, complete] of [
    [records, true],
    [records.slice(0, -1), completed],
  ] as const) {
    pair.fake.script(model, { records: sent });
    const { status, text } = await ask(pair.gateway, { protocol: client, model, stream: true });
    expect([status, hasTerminal(client, text), endsInError(client, text)]).toEqual([200, complete, !complete]);
  }
});

test.each([...PROTOCOLS])(
  'vector 30: %s: a clean end in the middle of a call never completes the call',
  async (client) => {
    const { records } = SHORT[UPSTREAM_OF[client]];
    const inCall = records.findIndex((record) => record.includes('{\\"a\\":')) + 1;
    const model = translatedModel(client, 'lane-0');
    pair.fake.script(model, { records: records.slice(0, inCall) });
    const { status, text } = await ask(pair.gateway, { protocol: client, model, stream: true });
    expect([status, hasTerminal(client, text), endsInError(client, text)]).toEqual([200, false, true]);
    expect(text).not.toMatch(/"finish_reason":"|"stop_reason":"/);
    // The open block must not be closed: clients run a tool when its block stops.
    if (client === 'messages') expect(text.match(/event: content_block_stop/g)?.length).toBe(2);
  },
);
