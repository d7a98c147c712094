/** Tests that the events of both protocols fold into the same answer. */
import { describe, expect, test } from 'bun:test';
import { type Answer, EMPTY_ANSWER, foldEvent, type Protocol } from './answer.ts';

const fold = (protocol: Protocol, events: readonly unknown[]): Answer =>
  events.reduce<Answer>(
    (answer, one) =>
      foldEvent(answer, protocol, {
        event: 'message',
        data: typeof one === 'string' ? one : JSON.stringify(one),
      }),
    EMPTY_ANSWER,
  );
const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

describe('chat', () => {
  test('folds text, reasoning, finish reason, usage and end', () => {
    const answer = fold('chat', [
      chunk({ role: 'assistant', reasoning_content: 'Hm. ' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }, 'stop'),
      {
        choices: [],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          prompt_tokens_details: { cached_tokens: 4 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
      '[DONE]',
    ]);
    expect(answer).toEqual({
      text: 'Hello',
      reasoning: 'Hm. ',
      toolCalls: [],
      finish: 'stop',
      usage: { input: 6, cacheRead: 4, cacheWrite5m: 0, cacheWrite1h: 0, output: 5, reasoning: 2 },
      error: null,
      isComplete: true,
    });
  });
  test('tool calls grow by index', () => {
    const answer = fold('chat', [
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }] }),
      chunk({ tool_calls: [{ index: 1, id: 'b', function: { name: 'two', arguments: '{}' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
    ]);
    expect(answer.toolCalls).toEqual([
      { name: 'one', input: '{"x":1}' },
      { name: 'two', input: '{}' },
    ]);
  });
});

describe('messages', () => {
  test('folds text, thinking, a tool call and partial usage', () => {
    const answer = fold('messages', [
      {
        type: 'message_start',
        message: {
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 3,
            cache_creation_input_tokens: 9,
            cache_creation: { ephemeral_1h_input_tokens: 5 },
            output_tokens: 1,
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', name: 'look', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } },
      { type: 'message_stop' },
    ]);
    expect(answer).toEqual({
      text: 'Hello',
      reasoning: 'Hm.',
      toolCalls: [{ name: 'look', input: '{"a":1}' }],
      finish: 'tool_use',
      usage: { input: 10, cacheRead: 3, cacheWrite5m: 4, cacheWrite1h: 5, output: 30, reasoning: 0 },
      error: null,
      isComplete: true,
    });
  });
});

test.each<Protocol>(['chat', 'messages'])('an error in a %s stream is kept in its words', (protocol) => {
  expect(fold(protocol, [{ error: { message: 'overloaded' } }]).error).toBe('overloaded');
});

test.each(['nonsense', '[]', 'null', '{"choices":"x"}', '{"type":"new_event"}'])('%s changes nothing', (data) => {
  expect(fold('chat', [data])).toEqual(EMPTY_ANSWER);
  expect(fold('messages', [data])).toEqual(EMPTY_ANSWER);
});
