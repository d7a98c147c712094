/**
 * Tests that a recorded stream folded into an answer in one piece of its own format is the same answer: to the
 * product's reader of whole answers as the stream is to its stream reader, and choice by choice as its chunks say.
 */
import { describe, expect, test } from 'bun:test';
import { startSseDecoder } from '../../../src/framing/sse-decoder.ts';
import { foldGeneration } from '../../../src/generation/generation.ts';
import { chatUpstream } from '../../../src/protocols/chat/upstream/upstream-protocol.ts';
import { messagesUpstream } from '../../../src/protocols/messages/upstream/upstream-protocol.ts';
import { UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { chunksOf, type Json, list, object, textRecords, words } from '../wire-text.ts';
import { readBack, withoutCitations } from './answer-oracle.ts';
import type { Format } from './format.ts';
import { eventsOf, exchangeSets, type RecordedExchange } from './rig.ts';

const OWN = { chat: chatUpstream.passThrough, messages: messagesUpstream.passThrough };

const complete = exchangeSets().flatMap(({ exchanges }) =>
  exchanges
    .filter(({ streamed, status }) => streamed && status === 200)
    .map((exchange) => ({ exchange, events: eventsOf(exchange) }))
    .filter(({ events }) => events.at(-1)?.kind === 'end'),
);

function foldOf({ format, answer }: RecordedExchange): string {
  const fold = OWN[format].startFold('chatcmpl-none');
  const decoder = startSseDecoder();
  const observer = OWN[format].startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-none' });
  for (const output of [...decoder.push(answer), ...decoder.finish()]) {
    if (output.kind !== 'event') continue;
    if (observer.observe(output) === 'terminal') break;
    fold.push(output);
  }
  return fold.finish(null);
}

function named(format: Format) {
  return complete.filter(({ exchange }) => exchange.format === format).map((one) => [one.exchange.id, one] as const);
}

describe('a folded stream', () => {
  for (const format of ['chat', 'messages'] as const) {
    test.each(named(format))(`a folded stream of ${format}, %s, reads like the stream`, (_id, { exchange, events }) => {
      const streamed = foldGeneration(events);
      const folded = foldGeneration(UPSTREAM_PROTOCOLS[format].parseAnswer(Buffer.from(foldOf(exchange))));
      const [found, wanted] = [folded, streamed].map((one) => withoutCitations(readBack(one, format, 'plain')));
      expect(found).toEqual(wanted as NonNullable<typeof wanted>);
      expect([folded.id, folded.stop_sequence]).toEqual([streamed.id ?? 'chatcmpl-none', streamed.stop_sequence]);
    });
  }

  test.each(named('chat'))('of chat, %s, has in every choice what its chunks say', (_id, { exchange }) => {
    const answer = JSON.parse(foldOf(exchange)) as Json;
    const said = chunksOf(textRecords(exchange.answer.toString())).flatMap((chunk) => list(chunk.choices).map(object));
    const indices = [...new Set(said.map((choice) => Number(choice?.index ?? 0)))].sort((one, other) => one - other);
    expect(list(answer.choices).map((choice) => object(choice)?.index)).toEqual(indices);
    for (const value of list(answer.choices)) {
      const choice = object(value);
      const own = said.filter((one) => Number(one?.index ?? 0) === choice?.index);
      const joined = (member: string) => own.map((one) => words(object(one?.delta)?.[member]) ?? '').join('');
      const message = object(choice?.message);
      for (const member of ['content', 'refusal', 'reasoning', 'reasoning_content']) {
        if (!Array.isArray(message?.[member])) expect(words(message?.[member]) ?? '').toBe(joined(member));
      }
      const logprobs = own.flatMap((one) => list(object(one?.logprobs)?.content));
      expect(list(object(choice?.logprobs)?.content)).toEqual(logprobs);
    }
  });
});
