/** Tests that signed reasoning returns to the call that it led to, for its owner only, and within its bounds. */
import { describe, expect, test } from 'bun:test';
import type { Part, ReasoningPart, ToolCallPart } from '../../generation/part.ts';
import { textPart } from '../../generation/part.ts';
import type { GenerationRequest } from '../../generation/request.ts';
import { aliasText } from '../../protocols/request/tool-names.ts';
import { KeptReasoning, keepReasoningOf } from './kept-reasoning.ts';

const OWNER = { workspace: 'w', issuer: 'p', model: null as string | null };
const HOUR_MS = 3_600_000;

function reasoning(signature: string | null, text = 'hm'): ReasoningPart {
  return { kind: 'reasoning', text, signature, redacted: false, issuer: 'messages' };
}

function call(id: string, args = '{"a":1}'): ToolCallPart {
  return { kind: 'tool_call', id, name: 'f', tool: 'function', arguments: args, cache_mark: null };
}

function replayed(kept: KeptReasoning, parts: readonly Part[], owner = OWNER, nowMs = 0): readonly Part[] | undefined {
  const turn = { role: 'assistant', name: null, path: 'messages.1', parts } as const;
  return kept.restore(owner, { turns: [turn] } as unknown as GenerationRequest, nowMs).turns[0]?.parts;
}

test('reasoning at the start of a turn returns before its text, later reasoning before its call', () => {
  const kept = new KeptReasoning();
  kept.keep(OWNER, [reasoning('s1'), textPart('I look'), call('a'), reasoning('s2'), call('b')], 0);
  expect(replayed(kept, [textPart('I look'), call('a'), call('b')])).toEqual([
    reasoning('s1'),
    textPart('I look'),
    call('a'),
    reasoning('s2'),
    call('b'),
  ]);
});

test('reasoning after a text stays after it', () => {
  const kept = new KeptReasoning();
  kept.keep(OWNER, [textPart('x'), reasoning('s'), call('a')], 0);
  expect(replayed(kept, [textPart('x'), call('a')])).toEqual([textPart('x'), reasoning('s'), call('a')]);
});

test('arguments rewritten with other white space are the same call; other arguments are not', () => {
  const kept = new KeptReasoning();
  kept.keep(OWNER, [reasoning('s'), call('a', '{"a": 1}')], 0);
  expect(replayed(kept, [call('a', '{"a":1}')])).toHaveLength(2);
  expect(replayed(kept, [call('a', '{"a":2}')])).toHaveLength(1);
});

test('another workspace, another provider, a later hour find nothing', () => {
  const kept = new KeptReasoning();
  kept.keep(OWNER, [reasoning('s'), call('a')], 0);
  expect(replayed(kept, [call('a')], { ...OWNER, workspace: 'v' })).toHaveLength(1);
  expect(replayed(kept, [call('a')], { ...OWNER, issuer: 'q' })).toHaveLength(1);
  expect(replayed(kept, [call('a')], OWNER, HOUR_MS + 1)).toHaveLength(1);
  expect(replayed(kept, [call('a')], OWNER, HOUR_MS)).toHaveLength(2);
});

test('reasoning that the client echoed is not doubled, and reasoning without a signature is not stored', () => {
  const kept = new KeptReasoning();
  kept.keep(OWNER, [reasoning('s'), call('a')], 0);
  expect(replayed(kept, [reasoning('s'), call('a')])).toHaveLength(2);
  kept.keep(OWNER, [reasoning(null), call('b')], 0);
  expect(replayed(kept, [call('b')])).toHaveLength(1);
});

test('parts of server tools return to the call after them, also beside reasoning that the client carries', () => {
  const native = { origin: 'gemini', json: '{"toolCall":{},"thoughtSignature":"c2ln"}' };
  const search: Part = { kind: 'opaque', type: 'toolCall', native, words: null, returns: true };
  const shown: Part = {
    kind: 'opaque',
    type: 'server_tool_use',
    native: { origin: 'messages', json: '{}' },
    words: null,
  };
  const kept = new KeptReasoning();
  kept.keep(OWNER, [reasoning(null), search, textPart('I look'), shown, call('a')], 0);
  expect(replayed(kept, [reasoning('gw1.x'), textPart('I look'), call('a')])).toEqual([
    search,
    reasoning('gw1.x'),
    textPart('I look'),
    call('a'),
  ]);
});

describe('data that a host gave with a call', () => {
  const host_data = { origin: 'chat', json: '{"call":{"a":1}}' };

  test('data returns with its call, with and without reasoning', () => {
    const kept = new KeptReasoning();
    kept.keep(OWNER, [textPart('x'), { ...call('a'), host_data }, call('b')], 0);
    expect(replayed(kept, [textPart('x'), call('a'), call('b')])).toEqual([
      textPart('x'),
      { ...call('a'), host_data },
      call('b'),
    ]);
    expect(replayed(kept, [reasoning('gw1.mark'), call('a')])).toEqual([
      reasoning('gw1.mark'),
      { ...call('a'), host_data },
    ]);
  });

  test('data returns to no other workspace, provider or model, and to no changed call', () => {
    const kept = new KeptReasoning();
    const owner = { ...OWNER, model: 'm' };
    kept.keep(owner, [{ ...call('a'), host_data }], 0);
    for (const other of [{ workspace: 'v' }, { issuer: 'q' }, { model: 'n' }, { model: null }]) {
      expect(replayed(kept, [call('a')], { ...owner, ...other })).toEqual([call('a')]);
    }
    for (const tampered of [call('b'), call('a', '{"a":2}'), { ...call('a'), name: 'g' }]) {
      expect(replayed(kept, [tampered], owner)).toEqual([tampered]);
    }
    expect(replayed(kept, [call('a')], owner)).toEqual([{ ...call('a'), host_data }]);
  });

  test('data returns under the id that a messages client got', () => {
    const kept = new KeptReasoning();
    kept.keep(OWNER, [{ ...call('functions.f:0'), host_data }], 0);
    const shown = call(aliasText('functions.f:0', 128));
    expect(replayed(kept, [shown])).toEqual([{ ...shown, host_data }]);
  });

  test('data of a stream is stored, although it follows the call', () => {
    const kept = new KeptReasoning();
    const hear = keepReasoningOf(kept, OWNER, false, () => 0);
    hear({ kind: 'part_start', part: 0, opening: { kind: 'tool_call', id: 'a', name: 'f', tool: 'function' } });
    hear({ kind: 'arguments_delta', part: 0, text: '{"a":1}' });
    hear({ kind: 'part_end', part: 0 });
    hear({ kind: 'host_data', part: 0, native: host_data });
    hear({ kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'stop', explanation: null });
    expect(replayed(kept, [call('a')])).toEqual([{ ...call('a'), host_data }]);
  });

  test('data counts among the stored bytes', () => {
    const kept = new KeptReasoning();
    const long = { ...host_data, json: 'x'.repeat(1024 * 1024) };
    for (let i = 0; i < 64; i++) kept.keep(OWNER, [{ ...call(`c${i}`), host_data: long }], 0);
    expect(replayed(kept, [call('c0')])).toEqual([call('c0')]);
    expect(replayed(kept, [call('c63')])).toEqual([{ ...call('c63'), host_data: long }]);
  });
});

test('the oldest go when there are too many bytes', () => {
  const kept = new KeptReasoning();
  const long = 'x'.repeat(1024 * 1024);
  for (let i = 0; i < 64; i++) kept.keep(OWNER, [reasoning('s', long), call(`c${i}`)], 0);
  expect(replayed(kept, [call('c0')])).toHaveLength(1);
  expect(replayed(kept, [call('c63')])).toHaveLength(2);
});

test('a streamed answer is stored when it is complete, not before', () => {
  const kept = new KeptReasoning();
  const hear = keepReasoningOf(kept, OWNER, false, () => 0);
  hear({ kind: 'part_start', part: 0, opening: { kind: 'reasoning', redacted: false, issuer: 'messages' } });
  hear({ kind: 'text_delta', part: 0, text: 'h' });
  hear({ kind: 'text_delta', part: 0, text: 'm' });
  hear({ kind: 'signature', part: 0, signature: 's' });
  hear({ kind: 'part_start', part: 1, opening: { kind: 'tool_call', id: 'a', name: 'f', tool: 'function' } });
  hear({ kind: 'arguments_delta', part: 1, text: '{"a":' });
  hear({ kind: 'arguments_delta', part: 1, text: '1}' });
  expect(replayed(kept, [call('a')])).toHaveLength(1);
  hear({ kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'tool_use', explanation: null });
  expect(replayed(kept, [call('a')])?.[0]).toMatchObject({ kind: 'reasoning', text: 'hm', signature: 's' });
});

test('of a client that carries seals only data is stored that came when its call had begun', () => {
  const host_data = { origin: 'chat', json: '{"call":{"a":1}}' };
  for (const [isLate, restored] of [
    [false, call('a')],
    [true, { ...call('a'), host_data }],
  ] as const) {
    const kept = new KeptReasoning();
    const hear = keepReasoningOf(kept, OWNER, true, () => 0);
    const data = { kind: 'host_data', part: 1, native: host_data } as const;
    hear({ kind: 'part_start', part: 0, opening: { kind: 'reasoning', redacted: false, issuer: 'responses' } });
    hear({ kind: 'signature', part: 0, signature: '{}' });
    hear({ kind: 'part_start', part: 1, opening: { kind: 'tool_call', id: 'a', name: 'f', tool: 'function' } });
    if (!isLate) hear(data);
    hear({ kind: 'arguments_delta', part: 1, text: '{"a":1}' });
    if (isLate) hear(data);
    hear({ kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'x', explanation: null });
    expect(replayed(kept, [call('a')])).toEqual([restored]);
  }
});

test('data that came after a call without arguments had ended is stored', () => {
  const host_data = { origin: 'chat', json: '{"call":{"a":1}}' };
  const kept = new KeptReasoning();
  const hear = keepReasoningOf(kept, OWNER, true, () => 0);
  hear({ kind: 'part_start', part: 0, opening: { kind: 'tool_call', id: 'a', name: 'f', tool: 'function' } });
  hear({ kind: 'part_end', part: 0 });
  hear({ kind: 'host_data', part: 0, native: host_data });
  hear({ kind: 'finish', finish_reason: 'tool_calls', stop_sequence: null, reported: 'x', explanation: null });
  expect(replayed(kept, [{ ...call('a'), arguments: '{}' }])).toMatchObject([{ host_data }]);
});
