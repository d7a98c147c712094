/** Shows that a scripted `say` is the same answer in both protocols, plain and streamed, and that a malformed one is refused. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { splitRecords, sseDataOf, textOf } from './body-part.ts';
import { exchange } from './raw-client.ts';
import type { Say, Scenario } from './scenario.ts';
import { scriptedSpeech } from './scripted-speech.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall, messagesCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

async function bodyOf(call: Uint8Array): Promise<string> {
  const { response, client } = await exchange(fake.port, call);
  client.leave();
  expect(response?.status).toBe(200);
  return response?.body.toString() ?? '';
}

const plain = async (call: Uint8Array) => JSON.parse(await bodyOf(call));
const recordsOf = async (call: Uint8Array) =>
  splitRecords(Buffer.from(await bodyOf(call)))
    .map((part) => sseDataOf(textOf(part.bytes)) ?? '')
    .filter((json) => json !== '[DONE]')
    .map((json) => JSON.parse(json));

const SAY: Say = {
  reasoning: 'A file first.',
  text: 'I read 🍋 it.',
  calls: [{ id: 'call_1', name: 'Read', input: { file_path: '/tmp/über.txt' } }],
  cacheReadTokens: 5,
};
const OUTPUT_TOKENS = 2 + 2 + 10;

test('pieces are cut between characters and join to what was to be said', () => {
  const { text, toolCalls } = scriptedSpeech({ ...SAY, text: '🍋'.repeat(20) }, 1);
  expect([...text]).toEqual(['🍋'.repeat(7), '🍋'.repeat(7), '🍋'.repeat(6)]);
  expect(toolCalls[0]?.argumentPieces.length).toBe(5);
  expect(JSON.parse(toolCalls[0]?.argumentPieces.join('') ?? '')).toEqual({ file_path: '/tmp/über.txt' });
});

describe('chat completions', () => {
  test('a plain answer says it all, and its prompt counts what the cache held', async () => {
    fake.script('a', { say: SAY });
    const answer = await plain(chatCall('a'));
    expect(answer.choices[0]).toMatchObject({
      message: {
        content: SAY.text,
        reasoning_content: SAY.reasoning,
        tool_calls: [{ id: 'call_1', function: { name: 'Read', arguments: '{"file_path":"/tmp/über.txt"}' } }],
      },
      finish_reason: 'tool_calls',
    });
    expect(answer.usage).toMatchObject({
      prompt_tokens: 16,
      completion_tokens: OUTPUT_TOKENS,
      prompt_tokens_details: { cached_tokens: 5 },
    });
  });

  test('content is null where there are only calls, plain and streamed', async () => {
    fake.script('a', { say: { calls: SAY.calls ?? [] } });
    expect((await plain(chatCall('a'))).choices[0].message.content).toBeNull();
    const deltas = (await recordsOf(chatCall('a', { stream: true }))).map(({ choices }) => choices[0].delta);
    expect(deltas[0]).toEqual({ role: 'assistant', content: null, refusal: null });
    expect(deltas.slice(1).filter((delta) => 'content' in delta)).toEqual([]);
  });
});

describe('messages', () => {
  test('a plain answer says it all, and its input leaves out what the cache held', async () => {
    fake.script('a', { say: SAY });
    const answer = await plain(messagesCall('a'));
    expect(answer.content).toMatchObject([
      { type: 'thinking', thinking: SAY.reasoning },
      { type: 'text', text: SAY.text },
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: '/tmp/über.txt' } },
    ]);
    expect(answer.usage).toMatchObject({
      input_tokens: 11,
      cache_read_input_tokens: 5,
      output_tokens: OUTPUT_TOKENS,
    });
  });

  test('there is no text block where there are only calls, and blocks are counted from 0', async () => {
    fake.script('a', { say: { calls: SAY.calls ?? [] } });
    expect((await plain(messagesCall('a'))).content.map(({ type }: { type: string }) => type)).toEqual(['tool_use']);
    const starts = (await recordsOf(messagesCall('a', { stream: true }))).filter(
      ({ type }) => type === 'content_block_start',
    );
    expect(starts).toMatchObject([{ index: 0, content_block: { type: 'tool_use', id: 'toolu_1' } }]);
  });
});

test('two answers of one script have two ids', async () => {
  fake.script('a', { say: SAY });
  const ids = [
    (await plain(messagesCall('a'))).id,
    (await plain(messagesCall('a'))).id,
    (await plain(chatCall('a'))).id,
  ];
  expect(new Set(ids.map((id: string) => id.replace(/^[a-z]+[_-]/, ''))).size).toBe(3);
});

test('a say that is malformed is refused with what is expected', () => {
  for (const say of [
    { words: 'x' },
    { text: 1 },
    { calls: [{ id: 'toolu_1', name: 'x', input: {} }] },
    { calls: [{ id: 'call_1', name: 'x', input: '{}' }] },
    { cacheReadTokens: -1 },
  ]) {
    const scenario: Record<string, unknown> = { say };
    expect(() => fake.script('a', scenario as Scenario)).toThrow('scenario.say is');
  }
});
