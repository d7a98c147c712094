/** Tests that Google's signatures pass chat clients in `extra_content`, on calls and on the message, both ways. */
import { expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../generation/event.ts';
import { foldGeneration } from '../../../generation/generation.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { packSignature, unpackSignature } from '../../host-data.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { chatClient } from './client-protocol.ts';

const CONTEXT = {
  id: 'x',
  createdSeconds: 1,
  model: 'm',
  wantsUsage: false,
  estimatedInputTokens: 0,
  sign: () => 'gw1.',
  seal: () => 'gw2.',
} as const;
const extra_content = (thought_signature: string) => ({ google: { thought_signature } });

const EVENTS: readonly GenerationEvent[] = [
  { kind: 'start', id: 'a', model: 'm' },
  { kind: 'part_start', part: 0, opening: { kind: 'text' } },
  { kind: 'text_delta', part: 0, text: 'I look.' },
  { kind: 'host_data', part: 0, native: packSignature('T') },
  { kind: 'part_end', part: 0 },
  { kind: 'part_start', part: 1, opening: { kind: 'tool_call', id: 'c1', name: 'look', tool: 'function' } },
  { kind: 'arguments_delta', part: 1, text: '{}' },
  { kind: 'host_data', part: 1, native: packSignature('C') },
  { kind: 'part_end', part: 1 },
  { kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'STOP', explanation: null },
  { kind: 'end' },
];

test('a plain answer has them on the message and on the call', () => {
  const { json } = chatClient.renderAnswer(foldGeneration(EVENTS), CONTEXT);
  const [choice] = JSON.parse(String(json)).choices;
  expect(choice.message.extra_content).toEqual(extra_content('T'));
  expect(choice.message.tool_calls).toEqual([
    { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content: extra_content('C') },
  ]);
});

test('a stream has them in deltas of their own', () => {
  const renderer = chatClient.startStreamRenderer(CONTEXT);
  const text = EVENTS.map((event) => renderer.push(event)).join('');
  expect(renderer.violation).toBeNull();
  expect(text).toContain(`"delta":${JSON.stringify({ extra_content: extra_content('T') })}`);
  const onCall = { tool_calls: [{ index: 0, extra_content: extra_content('C') }] };
  expect(text).toContain(`"delta":${JSON.stringify(onCall)}`);
});

function partsOf(message: object) {
  const outline = scanJson(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'assistant', ...message }] })));
  if (!outline.ok) throw new Error(outline.message);
  const notes = startTranslationNotes(true);
  const { turns } = chatClient.parseRequest(outline, notes, { model: 'm', stream: false });
  return (turns[0]?.parts ?? []).map((part) => {
    const data = part.kind === 'text' || part.kind === 'tool_call' ? part.host_data : undefined;
    return [part.kind, 'text' in part ? part.text : '', unpackSignature(data)];
  });
}

const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };

test('a request gives them to the text and to the call', () => {
  const tool_calls = [{ ...CALL, extra_content: extra_content('C') }];
  expect(partsOf({ content: 'I look.', extra_content: extra_content('T'), tool_calls })).toEqual([
    ['text', 'I look.', 'T'],
    ['tool_call', '', 'C'],
  ]);
  expect(partsOf({ content: null, extra_content: extra_content('T'), tool_calls })).toEqual([
    ['text', '', 'T'],
    ['tool_call', '', 'C'],
  ]);
});

test.each([{}, { google: {} }, { google: { thought_signature: 7 } }, 'x', [1]])('%j is no signature', (extra) => {
  expect(partsOf({ content: 'I look.', tool_calls: [{ ...CALL, extra_content: extra }] })).toEqual([
    ['text', 'I look.', null],
    ['tool_call', '', null],
  ]);
});
