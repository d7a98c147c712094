/** Tests which items turns become: results of several texts, and the beginning of an answer. */
import { expect, test } from 'bun:test';
import { type Part, textPart } from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { assistantTurn, requestOf, userTurn } from '../../../generation/testing/request-of.ts';
import { startTranslationNotes } from '../../request/translation-notes.ts';
import { CAPABLE, withChatTraits } from '../../testing/capable-upstream.ts';
import { renderRequest } from './render-request.ts';

const CALL = { kind: 'tool_call', id: 'c1', name: 'f', tool: 'function', arguments: '{}', cache_mark: null } as const;
const PNG = {
  kind: 'image',
  source: { kind: 'base64', media_type: 'image/png', base64: 'AA' },
  detail: null,
  cache_mark: null,
} as const;
const ask = userTurn(textPart('go'));

function inputOf(turns: readonly Turn[], traits = CAPABLE) {
  return JSON.parse(renderRequest(requestOf({ turns }), traits, startTranslationNotes(false)).json).input;
}

function outputOf(parts: Extract<Part, { kind: 'tool_result' }>['parts'], is_error = false) {
  const result = { kind: 'tool_result', call_id: 'c1', parts, is_error, cache_mark: null } as const;
  return inputOf([ask, assistantTurn(CALL), userTurn(result)]).at(-1).output;
}

test('several texts of a result are lines of one, after the word for an error', () => {
  expect(outputOf([textPart('one'), textPart('two')])).toBe('one\ntwo');
  expect(outputOf([textPart('one'), textPart('two')], true)).toBe('[tool error] one\ntwo');
  expect(outputOf([])).toBe('');
  expect(outputOf([textPart('seen'), PNG], true)).toEqual([
    { type: 'input_text', text: '[tool error] ' },
    { type: 'input_text', text: 'seen' },
    { type: 'input_image', image_url: 'data:image/png;base64,AA' },
  ]);
});

test('a call whose id an earlier turn has gets one of its own, and its result too', () => {
  const resultOf = (text: string) =>
    userTurn({ kind: 'tool_result', call_id: 'c1', parts: [textPart(text)], is_error: false, cache_mark: null });
  const items = inputOf([ask, assistantTurn(CALL), resultOf('one'), assistantTurn(CALL), resultOf('two'), ask]);
  const linked = items.filter((item: { call_id?: string }) => item.call_id !== undefined);
  expect(linked.map((item: { call_id: string; output?: string }) => [item.call_id, item.output])).toEqual([
    ['c1', undefined],
    ['c1', 'one'],
    ['c1_2', undefined],
    ['c1_2', 'two'],
  ]);
});

test('refuses the beginning of an answer where the model does not go on with it', () => {
  const turns = [ask, { ...assistantTurn(textPart('{"a":')), path: 'messages.1' }];
  expect(() => inputOf(turns, withChatTraits({ prefill: 'refused' }))).toThrow(
    "messages.1: is the assistant's and stands last, but",
  );
  expect(inputOf(turns, withChatTraits({ prefill: 'plain' }))).toHaveLength(2);
  expect(inputOf([...turns, ask], withChatTraits({ prefill: 'refused' }))).toHaveLength(3);
});

test('the schema of a tool gets what it lacks for OpenAI, although it says nothing', () => {
  const tool = { kind: 'function', name: 'f', description: null, strict: null, cache_mark: null } as const;
  const request = requestOf({ tools: [{ ...tool, parameters: '{"type":"object"}' }] });
  const { tools } = JSON.parse(renderRequest(request, CAPABLE, startTranslationNotes(false)).json);
  expect(tools[0].parameters).toEqual({ type: 'object', properties: {} });
});
