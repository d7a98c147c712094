/** Tests that an upstream that dies at any byte before its completion is never taken for a complete answer. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { recordingBytes } from '../fake-upstream/recording.ts';
import { loadRecording, recordingSets, type SetName } from '../fake-upstream/recordings.ts';
import { pointAt } from '../harness/point-at.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Answer, ask, EXHAUSTIVE, endsInError, hasTerminal, type ProtocolName, recordsById } from './calls.ts';

/** Short streams with text, a tool call and thinking: each byte is cut twice. */
const STREAMS: Readonly<Record<SetName, readonly (readonly [protocol: ProtocolName, id: string])[]>> = {
  corpus: [
    ['chat', 'corpus-chat/stream'],
    ['chat', 'corpus-chat/stream-tool-call'],
    ['chat', 'corpus-chat/stream-reasoning-content'],
    ['messages', 'corpus-messages/stream'],
    ['messages', 'corpus-messages/stream-tool-use'],
    ['messages', 'corpus-messages/stream-thinking'],
  ],
  recordings: [
    ['chat', 'openai-chat/0260'],
    ['chat', 'openai-chat/0720'],
    ['chat', 'openai-chat/0617'],
    ['messages', 'anthropic-messages/0194'],
    ['messages', 'anthropic-messages/0046'],
    ['messages', 'anthropic-messages/0066'],
  ],
};
const LANES = 16;
const SAMPLE_PER_STREAM = 25;
const HOWS = ['fin', 'rst'] as const;

interface Cut {
  readonly protocol: ProtocolName;
  readonly id: string;
  readonly at: number;
  readonly how: (typeof HOWS)[number];
  readonly sent: string;
}

const laneName = (protocol: ProtocolName, lane: number) => `lane-${protocol}-${lane}`;
let pair: Pair;

beforeAll(async () => {
  const lanes = (protocol: ProtocolName) => Array.from({ length: LANES }, (_, lane) => laneName(protocol, lane));
  pair = await startPair((url) => pointAt(url, { chat: lanes('chat'), messages: lanes('messages') }));
});
afterAll(() => pair.stop());

/** Cuts up to the completion less its last byte: the last cut that leaves the body incomplete. */
function cutsOf(protocol: ProtocolName, id: string): Cut[] {
  const recording = loadRecording(id);
  if (recording === null) throw new Error(`no recording ${id}`);
  const bytes = Buffer.from(recordingBytes(recording));
  const terminal = bytes.lastIndexOf(protocol === 'chat' ? 'data: [DONE]' : 'event: message_stop');
  const completeAt = bytes.indexOf('\n\n', terminal) + 2;
  expect(terminal).toBeGreaterThan(0);
  const firstRecordEnd = bytes.indexOf('\n\n') + 2;
  const step = EXHAUSTIVE ? 1 : Math.ceil(completeAt / SAMPLE_PER_STREAM);
  const places = new Set([0, firstRecordEnd - 1, firstRecordEnd, completeAt - 2, completeAt - 1]);
  for (let at = 0; at < completeAt; at += step) places.add(at);
  return [...places].flatMap((at) =>
    HOWS.map((how) => ({ protocol, id, at, how, sent: bytes.toString('utf8', 0, at) })),
  );
}

function describeCut({ id, at, how }: Cut): string {
  return `${id} cut at byte ${at} by ${how}`;
}

const CONTENT = {
  chat: /"(?:content|reasoning|reasoning_content|refusal|arguments)":\s*"[^"]|"tool_calls":\s*\[\{|"finish_reason":\s*"/,
  messages: /"(?:text|thinking|partial_json|signature|data)":\s*"[^"]|"tool_use"|"stop_reason":\s*"/,
};

/** Whether a whole record with content came before the cut: the first that the client may get. */
function hasBegun({ protocol, sent }: Cut): boolean {
  return CONTENT[protocol].test(sent.slice(0, sent.lastIndexOf('\n\n') + 1));
}

/** Returns the violation of the contract on the client's side, or null. */
function wrongAnswer(cut: Cut, { status, text, broken }: Answer): string | null {
  if (hasTerminal(cut.protocol, text)) return 'the client was told that it is complete';
  if (!hasBegun(cut)) return status === 500 && !broken ? null : `status ${status}, expected 500`;
  if (status !== 200) return `status ${status}, expected 200`;
  return endsInError(cut.protocol, text) ? null : `no in-band error at the end: ${text.slice(-200)}`;
}

const PRODUCED = {
  chat: /"(?:content|reasoning_content)":"[^"]|"arguments":"[^"]/,
  messages: /"(?:text|thinking|partial_json)": ?"[^"]/,
};

/** Returns the violation of the table of endings in the record, or null. */
function wrongRecord(cut: Cut, { text }: Answer, record: CallLine | undefined): string | null {
  if (record === undefined) return 'no record';
  if (record.error === null) return 'the record has no error';
  if (!hasBegun(cut)) return record.usage_source === 'void' ? null : `${record.usage_source}, expected void`;
  if (cut.protocol === 'messages' && !text.includes('content_block_start')) {
    return record.usage_source === 'void' ? null : `${record.usage_source}, expected void: nothing was produced`;
  }
  if (!PRODUCED[cut.protocol].test(text)) return null;
  return record.usage_source === 'partial' ? null : `${record.usage_source}, expected partial`;
}

test.each(recordingSets('openai-chat'))(
  'an upstream cut at a byte before its completion is an error with a record, never a success: streams of $name',
  async ({ name }) => {
    const waiting = STREAMS[name].flatMap(([protocol, id]) => cutsOf(protocol, id));
    const total = waiting.length;
    const answered: [Cut, Answer][] = [];
    const work = async (lane: number) => {
      for (let cut = waiting.pop(); cut !== undefined; cut = waiting.pop()) {
        const { protocol, id, at, how } = cut;
        const model = laneName(protocol, lane);
        pair.fake.script(model, { answer: `rec:${id}`, cut: { at, how } });
        answered.push([cut, await ask(pair.gateway, { protocol, model, stream: true })]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, lane) => work(lane)));
    const records = await recordsById(pair.gateway);
    const wrong = answered.flatMap(([cut, answer]) => {
      const problems = [wrongAnswer(cut, answer), wrongRecord(cut, answer, records.get(answer.requestId))];
      return problems.filter((problem) => problem !== null).map((problem) => `${describeCut(cut)}: ${problem}`);
    });
    console.log(
      `upstream cut: ${answered.length} cuts of ${STREAMS[name].length} streams of ${name}${EXHAUSTIVE ? '' : ' (sample)'}`,
    );
    expect(answered.length).toBe(total);
    expect(wrong).toEqual([]);
    expect(new Set(answered.map(([, { requestId }]) => records.get(requestId)?.request_id)).size).toBe(total);
  },
);
