/** Tests what the quirks of hosts become, in a stream and in one piece, for clients of both formats. */
import { describe, expect, test } from 'bun:test';
import { chainFilters } from '../../../src/generation/event.ts';
import { splitThoughts } from '../../../src/generation/filters/split-thoughts.ts';
import { foldGeneration } from '../../../src/generation/generation.ts';
import { chunk, DONE, eventsOf } from '../../../src/protocols/chat/testing/chat-stream.ts';
import { UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { findPreset } from '../../../src/providers/presets/presets.ts';
import { streamFor } from '../translation/rig.ts';
import { HOST_STREAMS, hasThinkTags } from './host-streams.ts';

describe.each(HOST_STREAMS)('$preset: $quirk', ({ preset, chunks, becomes }) => {
  const events = chainFilters(hasThinkTags(preset) ? [splitThoughts()] : [])(
    eventsOf(...chunks.map((members) => chunk(members)), DONE),
  );

  test('is a preset', () => {
    expect(findPreset(preset)).toBeDefined();
  });

  test('becomes the canonical answer', () => {
    const { parts, finish_reason, usage } = foldGeneration(events);
    const said = parts.map((part) => [
      part.kind,
      part.kind === 'tool_call' ? part.name : 'text' in part ? part.text : '',
    ]);
    expect(said).toEqual(becomes.parts.map((part) => [...part]));
    if (becomes.usage !== undefined) {
      const { extras: _, ...counters } = usage ?? {};
      expect(Object.fromEntries(Object.entries(counters).filter(([, count]) => count !== 0))).toEqual(becomes.usage);
    }
    const last = events.at(-1);
    if (becomes.error === undefined) {
      expect([last?.kind, finish_reason]).toEqual(['end', becomes.finish ?? null]);
    } else {
      expect(last).toMatchObject({ kind: 'error', type: becomes.error[0], status: becomes.error[1] });
    }
  });

  test.each(['chat', 'messages'] as const)('keeps to the format of %s clients', (format) => {
    // Throws for an order that the format does not allow.
    const written = streamFor(format, events);
    expect(/\[DONE\]|message_stop/.test(written)).toBe(becomes.error === undefined);
  });
});

test('a failure of MiniMax in one piece is an error, but its status 0 is not', () => {
  const chat = UPSTREAM_PROTOCOLS.chat;
  const failed = { id: 'x', choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } };
  expect(chat.readAnswer(failed, 80)).toMatchObject({ kind: 'error', type: 'minimax_1008', status: 402 });
  expect(chat.parseAnswer(Buffer.from(JSON.stringify(failed))).at(-1)).toMatchObject({ kind: 'error', status: 402 });
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Noon.' }, finish_reason: 'stop' }];
  const fine = { id: 'x', choices, base_resp: { status_code: 0, status_msg: '' } };
  expect(chat.readAnswer(fine, 80).kind).toBe('answer');
});
