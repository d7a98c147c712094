/**
 * Tests that the judges of translated requests detect what an upstream would refuse, so that suites relying on them can
 * fail.
 */
import { describe, expect, test } from 'bun:test';
import type { Json } from '../wire-text.ts';
import { judgeChatRequest } from './chat-legality.ts';
import { judgeMessagesRequest } from './messages-legality.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
const text = (words: string, more: Json = {}) => ({ type: 'text', text: words, ...more });

describe('a messages request', () => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'found' };
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
  const user = (...content: readonly Json[]) => ({ role: 'user', content });
  const assistant = (...content: readonly Json[]) => ({ role: 'assistant', content });
  const mark = { cache_control: { type: 'ephemeral' } };
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  const GOOD: Json = {
    model: 'm',
    max_tokens: 2_000,
    system: [text('be kind', mark)],
    messages: [user(text('hi'), image), assistant(text('one moment'), use), user(result, text('and?'))],
    tools,
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 1_024 },
  };
  const turns = (...messages: readonly Json[]): Json => ({ messages });

  test('that is legal has no fault', () => {
    expect(judgeMessagesRequest(GOOD)).toEqual([]);
  });

  test.each<readonly [string, Json]>([
    ['an unknown member n', { n: 1 }],
    ['no model', { model: '' }],
    ['max_tokens', { max_tokens: undefined }],
    ['sampling beside thinking', { temperature: 0.2 }],
    ['is not in 0..1', { temperature: 1.5 }],
    ['the first turn is not the user’s', turns(assistant(text('hi')))],
    ['a second turn of the user', turns(user(text('a')), user(text('b')))],
    ['is empty', turns(user())],
    ['the text " "', turns(user(text(' ')))],
    ['a thinking in a turn of the user', turns(user({ type: 'thinking', thinking: 't', signature: 's' }))],
    ['an unsigned thinking', turns(user(text('a')), assistant({ type: 'thinking', thinking: 't', signature: '' }))],
    ['are followed by', turns(user(text('a')), assistant(use))],
    ['are followed by', turns(user(text('a')), assistant(use), user(text('late'), result))],
    ['a result without a call', turns(user(result))],
    ['two calls of one id', turns(user(text('a')), assistant(use, use), user(result, result))],
    ['a call toolu 1', turns(user(text('a')), assistant({ ...use, id: 'toolu 1' }))],
    ['an image called image/jpeg', turns(user({ ...image, source: { ...image.source, media_type: 'image/jpeg' } }))],
    ['a block of type audio', turns(user({ type: 'audio' }))],
    ['a text with prompt_cache_breakpoint', turns(user(text('a', { prompt_cache_breakpoint: {} })))],
    ['5 cache marks', turns(user(...Array.from({ length: 4 }, () => text('a', mark))))],
    ['is of no object', { tools: [{ name: 'look', input_schema: {} }] }],
    ['tools of one name', { tools: [...tools, ...tools] }],
    ['the tool name a.b', { tools: [{ ...tools[0], name: 'a.b' }] }],
    ['a choice of other', { tool_choice: { type: 'tool', name: 'other' } }],
    ['a choice without tools', { tools: undefined }],
    ['a forced tool beside a budget', { tool_choice: { type: 'any' } }],
    ['a budget of 2000', { thinking: { type: 'enabled', budget_tokens: 2_000 } }],
    ['the effort minimal', { output_config: { effort: 'minimal' } }],
    ['output_config.format', { output_config: { format: { type: 'json_schema' } } }],
    ['stop_sequences', { stop_sequences: [' '] }],
    ['the tier default', { service_tier: 'default' }],
    ['metadata', { metadata: { user_id: 7 } }],
  ])('has the fault: %s', (fault, change) => {
    expect(judgeMessagesRequest(JSON.parse(JSON.stringify({ ...GOOD, ...change }))).join('\n')).toContain(fault);
  });
});

describe('a chat-completions request', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const result = { role: 'tool', tool_call_id: 'c1', content: 'found' };
  const user = {
    role: 'user',
    content: [text('hi'), { type: 'image_url', image_url: { url: 'https://a.example/b' } }],
  };
  const calling = { role: 'assistant', content: null, tool_calls: [call] };
  const closed = { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false };
  const tool = (more: Json, name = 'look') => ({ type: 'function', function: { name, ...more } });
  const GOOD: Json = {
    model: 'm',
    messages: [
      { role: 'system', content: 'be kind' },
      user,
      calling,
      result,
      { role: 'assistant', content: 'so' },
      user,
    ],
    tools: [tool({ parameters: closed, strict: true }), { type: 'custom', custom: { name: 'write' } }],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool({})] } },
    stream: true,
    stream_options: { include_usage: true },
  };
  const turns = (...messages: readonly Json[]): Json => ({ messages });
  const marked = text('a', { prompt_cache_breakpoint: { mode: 'explicit' } });

  test('that is legal has no fault', () => {
    expect(judgeChatRequest(GOOD)).toEqual([]);
  });

  test.each<readonly [string, Json]>([
    ['an unknown member thinking', { thinking: {} }],
    ['user is null', { user: null }],
    ['no messages', turns()],
    ['the role function', turns({ role: 'function', name: 'f', content: '' })],
    ['the calls c1 have no result', turns(user, calling, user)],
    ['at the end the calls c1 have no result', turns(user, calling)],
    ['which nobody awaits', turns(user, result)],
    ['which nobody awaits', turns(user, calling, result, result)],
    ['two calls of one id', turns(user, { ...calling, tool_calls: [call, call] }, result)],
    ['the content of a assistant', turns({ role: 'assistant', content: null })],
    ['the content of a user', turns({ role: 'user', content: [] })],
    ['a assistant has tool_use', turns({ role: 'assistant', content: 'a', tool_use: 1 })],
    ['a part of type image_url', turns({ role: 'system', content: user.content })],
    ['a text with text,cache_control', turns({ role: 'user', content: [text('a', { cache_control: {} })] })],
    ['what a image_url holds', turns({ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a' } }] })],
    ['5 breakpoints', turns({ role: 'user', content: Array.from({ length: 5 }, () => marked) })],
    [
      'the call {',
      turns(user, { ...calling, tool_calls: [{ ...call, function: { name: 'look', arguments: {} } }] }, result),
    ],
    ['the tool name', { tools: [tool({}, 'x'.repeat(65))] }],
    ['has an open schema', { tools: [tool({ strict: true, parameters: { type: 'object', properties: { a: {} } } })] }],
    ['a tool of type web_search', { tools: [{ type: 'web_search' }] }],
    ['a choice of function other', { tool_choice: tool({}, 'other') }],
    ['a choice without tools', { tools: undefined }],
    ['max_completion_tokens is 0', { max_completion_tokens: 0 }],
    ['temperature is 3', { temperature: 3 }],
    ['stop', { stop: ['1', '2', '3', '4', '5'] }],
    ['the effort much', { reasoning_effort: 'much' }],
    ['safety_identifier', { safety_identifier: 'x'.repeat(129) }],
    ['response_format', { response_format: { type: 'json_schema', json_schema: { schema: {} } } }],
    ['stream_options without stream', { stream: undefined }],
    ['a stream without usage', { stream_options: undefined }],
  ])('has the fault: %s', (fault, change) => {
    expect(judgeChatRequest(JSON.parse(JSON.stringify({ ...GOOD, ...change }))).join('\n')).toContain(fault);
  });
});
