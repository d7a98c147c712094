/**
 * Reads a Converse answer a second, slow way: what a client must get of it. From provider reference C.4 and C.5, without
 * product code; the frames of recorded streams were decoded by others.
 */
import { encodeEvent } from '../../../src/framing/testing/encode-frame.ts';
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { loadRecordings } from '../../fake-upstream/recordings.ts';
import { CONVERSE_ANSWERS } from '../../fixtures/corpus/converse/answers.ts';
import { type Json, list, object, words } from '../wire-text.ts';

/** One answer of status 200. */
export interface ConverseAnswer {
  readonly id: string;
  readonly streamed: boolean;
  readonly bytes: Buffer;
  /** The bytes of each frame of a stream. */
  readonly frames: readonly Buffer[];
  /** The payloads of a stream, with their types; of a plain answer none. */
  readonly events: ReadonlyArray<readonly [type: string, payload: Json]>;
  /** The body of a plain answer. */
  readonly body: Json;
}

/** What is in an answer. */
export interface Reading {
  readonly text: string;
  readonly reasoning: string;
  readonly signatures: readonly string[];
  /** Id, name and arguments, parsed. */
  readonly calls: ReadonlyArray<readonly [id: unknown, name: unknown, input: unknown]>;
  readonly citations: number;
  readonly stopReason: unknown;
  /** Input, read, written for five minutes and an hour, output. */
  readonly usage: readonly unknown[];
}

/** The project's own answers, and those recorded, if they are there. */
export function answerSets(): ReadonlyArray<{ readonly name: string; readonly answers: readonly ConverseAnswer[] }> {
  const corpus = CONVERSE_ANSWERS.map(({ name, answer, stream }): ConverseAnswer => {
    const padded = (stream ?? []).map(([type, payload]) => encodeEvent(type, { ...payload, p: 'abcdefgh' }));
    const bytes = answer === undefined ? Buffer.concat(padded) : Buffer.from(JSON.stringify(answer));
    return {
      id: name,
      streamed: answer === undefined,
      bytes,
      frames: padded,
      events: stream ?? [],
      body: answer ?? {},
    };
  });
  const recorded = loadRecordings({ api: 'bedrock-converse' });
  const recordings = recorded?.filter(({ response }) => response.status === 200).map(answerOf);
  return [
    { name: 'corpus', answers: corpus },
    ...(recordings === undefined ? [] : [{ name: 'recordings', answers: recordings }]),
  ];
}

function answerOf(recording: Recording): ConverseAnswer {
  const bytes = Buffer.from(recordingBytes(recording));
  const events = list(recording.response.events).map((event) => {
    const { headers, payload } = object(event) ?? {};
    return [String(object(headers)?.[':event-type']), object(payload) ?? {}] as const;
  });
  const frames: Buffer[] = [];
  for (let at = 0; recording.stream && at < bytes.length; at += bytes.readUInt32BE(at)) {
    frames.push(bytes.subarray(at, at + bytes.readUInt32BE(at)));
  }
  const body = object(recording.response.body) ?? {};
  return { id: recording.id, streamed: recording.stream, bytes, frames, events, body };
}

export function readAnswer(answer: ConverseAnswer): Reading {
  return answer.streamed ? readStream(answer.events) : readBody(answer.body);
}

function objects(values: readonly unknown[]): Json[] {
  return values.map(object).filter((one) => one !== null);
}

function readBody(body: Json): Reading {
  const blocks = list(object(object(body.output)?.message)?.content).map((block) => object(block) ?? {});
  const reasoning = objects(blocks.map(({ reasoningContent }) => reasoningContent));
  const texts = reasoning.map(({ reasoningText }): Json => object(reasoningText) ?? {});
  const cited = objects(blocks.map(({ citationsContent }) => citationsContent));
  const spoken = blocks.map(({ text, citationsContent }) => {
    const content = list(object(citationsContent)?.content).map((one) => words(object(one)?.text) ?? '');
    return words(text) ?? content.join('');
  });
  return {
    text: spoken.join(''),
    reasoning: texts.map(({ text }) => words(text) ?? '').join(''),
    signatures: reasoning.flatMap((one, index) => words(texts[index]?.signature) ?? words(one.redactedContent) ?? []),
    calls: blocks.flatMap(({ toolUse }) => {
      const { toolUseId, name, input, type } = object(toolUse) ?? { type: 'server_tool_use' };
      return type === 'server_tool_use' ? [] : [[toolUseId, name, input] as const];
    }),
    citations: cited.flatMap(({ citations }) => list(citations)).length,
    stopReason: body.stopReason,
    usage: readUsage(body.usage),
  };
}

function readStream(events: ConverseAnswer['events']): Reading {
  const of = (type: string) => events.flatMap(([name, payload]) => (name === type ? [payload] : []));
  const deltas = of('contentBlockDelta').map(
    (payload) => [payload.contentBlockIndex, object(payload.delta) ?? {}] as const,
  );
  const reasoning = objects(deltas.map(([, { reasoningContent }]) => reasoningContent));
  const redacted = reasoning.map(({ redactedContent }) => Buffer.from(words(redactedContent) ?? '', 'base64'));
  const hidden = Buffer.concat(redacted).toString('base64');
  return {
    text: deltas.map(([, { text }]) => words(text) ?? '').join(''),
    reasoning: reasoning.map(({ text }) => words(text) ?? '').join(''),
    signatures: [...reasoning.flatMap(({ signature }) => words(signature) ?? []), ...(hidden === '' ? [] : [hidden])],
    calls: of('contentBlockStart').flatMap(({ contentBlockIndex, start }) => {
      const call = object(object(start)?.toolUse);
      if (call === null || call.type === 'server_tool_use') return [];
      const own = deltas.filter(([index]) => index === contentBlockIndex);
      const input = own.map(([, { toolUse }]) => words(object(toolUse)?.input) ?? '').join('');
      return [[call.toolUseId, call.name, JSON.parse(input === '' ? '{}' : input)] as const];
    }),
    citations: deltas.filter(([, { citation }]) => citation !== undefined).length,
    stopReason: of('messageStop')[0]?.stopReason,
    usage: readUsage(of('metadata')[0]?.usage),
  };
}

function readUsage(value: unknown): unknown[] {
  const usage = object(value) ?? {};
  const hourly = list(usage.cacheDetails).flatMap((one) =>
    object(one)?.ttl === '1h' ? [Number(object(one)?.inputTokens)] : [],
  );
  const written = Number(usage.cacheWriteInputTokens ?? 0);
  const long = hourly.reduce((sum, count) => sum + count, 0);
  return [usage.inputTokens, usage.cacheReadInputTokens ?? 0, written - long, long, usage.outputTokens];
}
