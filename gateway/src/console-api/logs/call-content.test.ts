/**
 * Tests what a reader gets of a call's content: placeholders for media, marks for truncated and unreadable parts, and
 * nothing that is not theirs.
 */
import { describe, expect, test } from 'bun:test';
import type { CallContent, ContentStore } from '../../store/ports/content.ts';
import type { Tenancy } from '../kernel/actor.ts';
import { createContentOf } from './call-content.ts';

const bytes = (text: string, cutBytes = 0) => {
  const whole = new TextEncoder().encode(text);
  return { bytes: whole, totalBytes: whole.length + cutBytes };
};

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Fine.' }, finish_reason: 'stop' }],
});
const REQUEST = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'How are you?' }] });

function content(changes: Partial<CallContent> = {}): CallContent {
  return {
    requestId: 'req_1',
    account: 'a',
    workspace: 'w',
    atMs: 1,
    protocol: 'chat',
    status: 200,
    stream: false,
    request: bytes(REQUEST),
    upstreamRequest: 'same',
    response: bytes(ANSWER),
    upstreamResponse: null,
    ...changes,
  };
}

const READER: Tenancy = { account: 'a', workspaces: null, may: () => true };

/** The content that the reader gets, and the messages to the operator. */
async function shownOf(kept: CallContent | Error, tenancy = READER) {
  const faults: string[] = [];
  const store: Pick<ContentStore, 'find' | 'read'> = {
    find: async () => 'w',
    async read() {
      if (kept instanceof Error) throw kept;
      return kept;
    },
  };
  const shown = await createContentOf(store, (requestId, cause) => faults.push(`${requestId}: ${cause}`))(
    tenancy,
    'req_1',
  );
  return { ...shown, faults };
}

const user = (...parts: unknown[]) =>
  bytes(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: parts }] }));

describe('the conversation', () => {
  test('is the request’s turns and the answer', async () => {
    expect((await shownOf(content())).conversation).toEqual([
      { role: 'user', parts: [{ kind: 'text', name: null, text: 'How are you?' }] },
      { role: 'assistant', parts: [{ kind: 'text', name: null, text: 'Fine.' }] },
    ]);
  });

  test('lists media by type, never their bytes', async () => {
    const url = `data:image/png;base64,${'QUJD'.repeat(100)}`;
    const { conversation } = await shownOf(content({ request: user({ type: 'image_url', image_url: { url } }) }));
    expect(conversation?.[0]?.parts).toEqual([{ kind: 'media', name: 'image', text: 'image/png, 300 bytes' }]);
  });

  test('has calls of tools, their results and reasoning, in the messages format too', async () => {
    const request = bytes(
      JSON.stringify({
        model: 'm',
        max_tokens: 9,
        system: 'Be brief.',
        messages: [
          { role: 'user', content: 'Weather?' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sea' } }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: 'no sea' }],
          },
        ],
      }),
    );
    const answer = JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'text', text: 'None.' },
      ],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    });
    const { conversation } = await shownOf(content({ protocol: 'messages', request, response: bytes(answer) }));
    expect(conversation?.flatMap(({ parts }) => parts.map(({ kind, name, text }) => [kind, name, text]))).toEqual([
      ['text', null, 'Be brief.'],
      ['text', null, 'Weather?'],
      ['tool_call', 'look', '{"at":"sea"}'],
      ['tool_result', 'toolu_1', 'error: no sea'],
      ['reasoning', null, 'hm'],
      ['text', null, 'None.'],
    ]);
  });

  test('a cut stream shows the output so far', async () => {
    const chunk = (delta: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    const response = bytes(
      `${chunk({ role: 'assistant', content: 'As ' })}${chunk({ content: 'far' })}data: {"id`,
      500,
    );
    const shown = await shownOf(content({ stream: true, response }));
    expect(shown.conversation?.at(-1)?.parts).toEqual([{ kind: 'text', name: null, text: 'As far' }]);
    expect(shown.raw?.truncated).toBe(true);
  });

  test('has only the response if the request was truncated, and is empty if nothing can be read', async () => {
    const cut = await shownOf(content({ request: bytes(REQUEST.slice(0, 20), 900) }));
    expect(cut.conversation?.map(({ role }) => role)).toEqual(['assistant']);
    const nothing = await shownOf(content({ request: bytes('{'), response: bytes('', 5) }));
    expect(nothing).toMatchObject({ content: 'shown', conversation: null, raw: { request: '{', truncated: true } });
  });

  test('of a refused call ends with the refusal', async () => {
    const response = bytes('{"error":{"message":"too warm","type":"invalid_request_error"}}');
    const { conversation } = await shownOf(content({ status: 400, response, upstreamRequest: null }));
    expect(conversation?.at(-1)).toEqual({
      role: 'error',
      parts: [{ kind: 'other', name: 'error', text: 'too warm' }],
    });
  });
});

test('bodies that are no JSON, of whatever bytes, are shown and break nothing', async () => {
  const noise = { bytes: Uint8Array.from({ length: 300 }, (_, at) => at % 256), totalBytes: 300 };
  for (const protocol of ['chat', 'messages'] as const) {
    for (const stream of [true, false]) {
      const shown = await shownOf(
        content({ protocol, stream, request: noise, response: noise, upstreamResponse: noise }),
      );
      expect(shown).toMatchObject({ content: 'shown', faults: [] });
    }
  }
});

test('unreadable content is reported to the reader and the operator', async () => {
  expect(await shownOf(new Error('was changed'))).toEqual({
    content: 'unreadable',
    conversation: null,
    raw: null,
    faults: ['req_1: Error: was changed'],
  });
});

test('readers of other workspaces see nothing; readers without the permission see that it is hidden', async () => {
  expect(await shownOf(content(), { ...READER, workspaces: ['v'] })).toHaveProperty('content', 'none');
  const mayNot: Tenancy = { ...READER, may: (permission) => permission !== 'content.read' };
  expect(await shownOf(content(), mayNot)).toMatchObject({ content: 'hidden', conversation: null, raw: null });
});
