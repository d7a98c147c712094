/** Tests that the events of each protocol fold into the same answer. */
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

describe('responses', () => {
  test('folds text, reasoning, a tool call and usage', () => {
    const answer = fold('responses', [
      { type: 'response.created', response: { status: 'in_progress', error: null, usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', summary: [] } },
      { type: 'response.reasoning_summary_part.added', summary_index: 0 },
      { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' },
      { type: 'response.reasoning_summary_part.added', summary_index: 1 },
      { type: 'response.reasoning_summary_text.delta', delta: 'Well.' },
      { type: 'response.output_text.delta', delta: 'Hel' },
      { type: 'keepalive' },
      { type: 'response.output_text.delta', delta: 'lo' },
      { type: 'response.output_item.added', output_index: 2, item: { type: 'function_call', name: 'look' } },
      { type: 'response.function_call_arguments.delta', delta: '{"a"' },
      { type: 'response.function_call_arguments.delta', delta: ':1}' },
      { type: 'response.output_item.added', output_index: 3, item: { type: 'custom_tool_call', name: 'patch' } },
      { type: 'response.custom_tool_call_input.delta', delta: '*** ' },
      {
        type: 'response.completed',
        response: {
          status: 'completed',
          error: null,
          usage: {
            input_tokens: 20,
            input_tokens_details: { cached_tokens: 4, cache_write_tokens: 6 },
            output_tokens: 30,
            output_tokens_details: { reasoning_tokens: 7 },
            total_tokens: 50,
          },
        },
      },
    ]);
    expect(answer).toEqual({
      text: 'Hello',
      reasoning: 'Hm.\n\nWell.',
      toolCalls: [
        { name: 'look', input: '{"a":1}' },
        { name: 'patch', input: '*** ' },
      ],
      finish: 'completed',
      usage: { input: 10, cacheRead: 4, cacheWrite5m: 6, cacheWrite1h: 0, output: 30, reasoning: 7 },
      error: null,
      isComplete: true,
    });
  });
  test('an incomplete response has its reason, a failed one its error', () => {
    const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    expect(fold('responses', [{ type: 'response.incomplete', response: incomplete }])).toMatchObject({
      finish: 'max_output_tokens',
      isComplete: true,
    });
    const failed = { status: 'failed', error: { code: 'server_error', message: 'overloaded' } };
    expect(fold('responses', [{ type: 'response.failed', response: failed }]).error).toBe('overloaded');
    expect(fold('responses', [{ type: 'error', code: 'x', message: 'flat' }]).error).toBe('flat');
  });
});

test.each<Protocol>(['chat', 'messages', 'responses'])('an error in a %s stream is kept in its words', (protocol) => {
  expect(fold(protocol, [{ error: { message: 'overloaded' } }]).error).toBe('overloaded');
});

test.each(['nonsense', '[]', 'null', '{"choices":"x"}', '{"type":"new_event"}'])('%s changes nothing', (data) => {
  expect(fold('chat', [data])).toEqual(EMPTY_ANSWER);
  expect(fold('messages', [data])).toEqual(EMPTY_ANSWER);
  expect(fold('responses', [data])).toEqual(EMPTY_ANSWER);
});
