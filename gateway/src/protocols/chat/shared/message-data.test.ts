/**
 * Tests that providers' extra members of tool calls are read, plain and streamed, and written again unchanged, in
 * place.
 */
import { describe, expect, test } from 'bun:test';
import { foldGeneration } from '../../../generation/generation.ts';
import type { Part, ToolCallPart } from '../../../generation/part.ts';
import { assistantTurn, requestOf, userTurn } from '../../../generation/testing/request-of.ts';
import { LOST_SIGNATURE, packHostData, packSignature, unpackHostData } from '../../host-data.ts';
import { render, resultOf } from '../testing/chat-request.ts';
import { DONE, delta, finish, generationOf } from '../testing/chat-stream.ts';
import { parseAnswer } from '../upstream/parse-answer.ts';

const signed = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } });
const call = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...more,
});
const DETAILS = [
  { type: 'reasoning.text', text: 'Let me see.', format: 'anthropic-claude-v1', index: 0, signature: 'c2ln' },
  { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
];

function plain(message: object): readonly Part[] {
  const choices = [
    { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'tool_calls' },
  ];
  return foldGeneration(parseAnswer(Buffer.from(JSON.stringify({ id: 'a', choices })))).parts;
}

function streamed(...deltas: object[]): readonly Part[] {
  return generationOf(...deltas.map(delta), finish('stop'), DONE).parts;
}

const callOf = (id: string): ToolCallPart => ({
  kind: 'tool_call',
  id,
  name: 'look',
  tool: 'function',
  arguments: '{}',
  cache_mark: null,
});
const dataOf = (parts: readonly Part[]) =>
  parts.flatMap((part) => (part.kind === 'tool_call' ? [unpackHostData(part.host_data)] : []));
const GIVEN = { call: signed('one'), message: { reasoning_details: DETAILS } };

describe('is read', () => {
  test('from a plain answer: a call’s data with the call, the message’s with the first call', () => {
    const parts = plain({ reasoning_details: DETAILS, tool_calls: [call('a', signed('one')), call('b')] });
    expect(dataOf(parts)).toEqual([GIVEN, null]);
    const beside = plain({ ...signed('around'), tool_calls: [call('a')] });
    expect(dataOf(beside)).toEqual([{ call: null, message: signed('around') }]);
  });

  test('details that a stream sends in pieces are joined', () => {
    const [first, second] = DETAILS;
    const parts = streamed(
      { reasoning: 'Let me', reasoning_details: [{ type: 'reasoning.text', text: 'Let me', signature: '', index: 0 }] },
      { reasoning: ' see.', reasoning_details: [{ type: 'reasoning.text', text: ' see.', index: 0 }] },
      { reasoning_details: [{ ...first, text: null }] },
      { reasoning_details: [second] },
      { tool_calls: [{ index: 0, ...call('a', signed('one')) }] },
      { tool_calls: [{ index: 1, ...call('b') }] },
    );
    expect(dataOf(parts)).toEqual([GIVEN, null]);
    expect(parts[0]).toMatchObject({ kind: 'reasoning', text: 'Let me see.' });
  });

  test('a signature that follows the call is attached to it', () => {
    const parts = streamed(
      { tool_calls: [{ index: 0, ...call('a') }] },
      { tool_calls: [{ index: 0, ...signed('late') }] },
    );
    expect(dataOf(parts)).toEqual([{ call: signed('late'), message: null }]);
  });

  test('encrypted details of one index stay apart', () => {
    const [, sealed] = DETAILS;
    const other = { ...sealed, data: 'bW9yZQ==', id: 'rs_2' };
    const parts = streamed(
      { reasoning_details: [sealed] },
      { reasoning_details: [other] },
      { tool_calls: [{ index: 0, ...call('a') }] },
    );
    expect(dataOf(parts)).toEqual([{ call: null, message: { reasoning_details: [sealed, other] } }]);
  });

  test('not from an answer without calls, or with too much data', () => {
    expect(plain({ content: 'hi', reasoning_details: DETAILS }).every((part) => !('host_data' in part))).toBe(true);
    const huge = [{ type: 'reasoning.encrypted', data: 'x'.repeat(1024 * 1024) }];
    expect(dataOf(plain({ reasoning_details: huge, tool_calls: [call('a')] }))).toEqual([null]);
    expect(
      dataOf(plain({ reasoning_details: 'odd', extra_content: 7, tool_calls: [call('a', { extra_content: [] })] })),
    ).toEqual([null]);
  });
});

describe('is written', () => {
  const messageOf = (...calls: ToolCallPart[]) => {
    const results = calls.map(({ id }) => resultOf(id));
    return render(requestOf({ turns: [assistantTurn(...calls), userTurn(...results)] })).body.messages[0];
  };

  test('at its original position', () => {
    const host_data = packHostData({ call: signed('one'), message: { reasoning_details: DETAILS } });
    const message = messageOf({ ...callOf('a'), host_data }, callOf('b'));
    expect(message.reasoning_details).toEqual(DETAILS);
    expect(message.tool_calls.map((one: object) => ('extra_content' in one ? one.extra_content : null))).toEqual([
      signed('one').extra_content,
      null,
    ]);
  });

  test('from merged messages: the details of both', () => {
    const [first, second] = DETAILS;
    const of = (detail: object | undefined) => packHostData({ call: null, message: { reasoning_details: [detail] } });
    const message = messageOf({ ...callOf('a'), host_data: of(first) }, { ...callOf('b'), host_data: of(second) });
    expect(message.reasoning_details).toEqual(DETAILS);
  });

  test('not if it belongs to another format', () => {
    const message = messageOf({ ...callOf('a'), host_data: { ...packSignature(LOST_SIGNATURE), origin: 'messages' } });
    expect(message.tool_calls[0]).not.toHaveProperty('extra_content');
  });
});
