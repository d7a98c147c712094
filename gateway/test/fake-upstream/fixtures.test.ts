/** Tests that each fixture's `meta.json` matches its response: other suites rely on it. */
import { describe, expect, test } from 'bun:test';
import type { Usage } from '../../src/generation/usage.ts';
import { isObject, splitRecords, sseDataOf, textOf } from './answer/body-part.ts';
import { type Fixture, listFixtures, loadFixture } from './fixtures.ts';
import type { Protocol } from './protocol.ts';

type Json = Record<string, unknown>;

const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
const tokens = (value: unknown, name: string): number => Number(member(value, name) ?? 0);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns the JSON objects of a response: the body, or the data of each record, without `[DONE]` and comments. */
function messagesOf(fixture: Fixture): Json[] {
  const text = textOf(fixture.responseBytes);
  if (!fixture.meta.stream) return [JSON.parse(text)];
  const lines = splitRecords(fixture.responseBytes).map((part) => sseDataOf(textOf(part.bytes)));
  return lines.filter((line) => line !== null && line !== '[DONE]').map((line): Json => JSON.parse(line ?? ''));
}

function chatUsage(messages: readonly Json[]): Usage | null {
  const usage = messages.map((message) => message.usage).findLast(isObject);
  if (usage === undefined) return null;
  const read = tokens(usage.prompt_tokens_details, 'cached_tokens');
  const written = tokens(usage.prompt_tokens_details, 'cache_write_tokens');
  return {
    input: tokens(usage, 'prompt_tokens') - read - written,
    cache_read: read,
    cache_write_5m: written,
    cache_write_1h: 0,
    output: tokens(usage, 'completion_tokens'),
    reasoning: tokens(usage.completion_tokens_details, 'reasoning_tokens'),
  };
}

function messagesUsage(messages: readonly Json[]): Usage | null {
  const found = messages.flatMap((message) => [member(message.message, 'usage'), message.usage]).filter(isObject);
  if (found.length === 0) return null;
  const usage: Json = Object.assign({}, ...found);
  return {
    input: tokens(usage, 'input_tokens'),
    cache_read: tokens(usage, 'cache_read_input_tokens'),
    cache_write_5m: tokens(usage.cache_creation, 'ephemeral_5m_input_tokens'),
    cache_write_1h: tokens(usage.cache_creation, 'ephemeral_1h_input_tokens'),
    output: tokens(usage, 'output_tokens'),
    reasoning: tokens(usage.output_tokens_details, 'thinking_tokens'),
  };
}

function textIn(protocol: Protocol, messages: readonly Json[]): string {
  const pieces = messages.flatMap((message) =>
    protocol === 'messages'
      ? [...list(message.content).map((block) => member(block, 'text')), member(message.delta, 'text')]
      : list(message.choices).map((choice) => member(member(choice, 'message') ?? member(choice, 'delta'), 'content')),
  );
  return pieces.filter((piece) => typeof piece === 'string').join('');
}

function endOf(protocol: Protocol, messages: readonly Json[]): string {
  if (messages.some((message) => isObject(message.error))) return 'error';
  if (protocol === 'messages') {
    return messages.some((message) => message.type === 'message_stop' || message.type === 'message')
      ? 'complete'
      : 'truncated';
  }
  const finished = messages.some((message) => list(message.choices).some((choice) => member(choice, 'finish_reason')));
  return finished ? 'complete' : 'truncated';
}

for (const protocol of ['chat-completions', 'messages'] satisfies Protocol[]) {
  describe(protocol, () => {
    test.each(listFixtures(protocol))('%s matches its meta', (name) => {
      const fixture = loadFixture(protocol, name);
      if (fixture === null) throw new Error('not there');
      const messages = messagesOf(fixture);
      expect({
        usage: protocol === 'messages' ? messagesUsage(messages) : chatUsage(messages),
        end: endOf(protocol, messages),
        text: textIn(protocol, messages),
        stream: fixture.request.stream === true,
      }).toEqual({
        usage: fixture.meta.usage,
        end: fixture.meta.end,
        text: fixture.meta.text ?? '',
        stream: fixture.meta.stream,
      });
      expect(fixture.meta.about).not.toBe('');
    });
  });
}
