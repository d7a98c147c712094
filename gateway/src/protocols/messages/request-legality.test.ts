/** Tests that rendered requests are legal for Anthropic: any turns yield a legal request or a refusal. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Part } from '../../generation/part.ts';
import type { Turn } from '../../generation/request.ts';
import { asArray, asObject, type JsonObject } from '../json.ts';
import { CAPABLE, withMessagesTraits } from '../testing/capable-upstream.ts';
import { parse, refusal, render, requestWith } from './testing/request-rig.ts';

const callId = fc.constantFrom('a', 'b', 'call|fc:1', 'x'.repeat(200));
const mark = fc.option(fc.record({ ttlMinutes: fc.constantFrom(null, 5, 30, 60) }), { nil: null });
const text: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('text'),
  text: fc.oneof(fc.string({ unit: 'binary', maxLength: 8 }), fc.constantFrom('', ' ', '\n', '\ud83d', 'word')),
  citations: fc.constant([]),
  cache_mark: mark,
});
const spoken: fc.Arbitrary<Part> = fc.oneof(
  text,
  fc.record({ kind: fc.constant('refusal'), text: fc.constantFrom('', 'no') }),
  fc.record({
    kind: fc.constant('reasoning'),
    text: fc.constant('hm'),
    signature: fc.constantFrom(null, '', 'sig', 'gw1.x'),
    redacted: fc.boolean(),
    issuer: fc.constantFrom(null, 'messages', 'gemini'),
  }),
  fc.record({
    kind: fc.constant('opaque'),
    type: fc.constant('x'),
    native: fc.constant({ origin: 'gemini', json: '{}' }),
    words: fc.constantFrom(null, '', 'told'),
  }),
);
const call: fc.Arbitrary<Part> = fc.record({
  kind: fc.constant('tool_call'),
  id: callId,
  name: fc.constantFrom('t', 'dot.ted', 'y'.repeat(200)),
  tool: fc.constantFrom('function', 'custom'),
  arguments: fc.constantFrom('', '{}', '{"n":12345678901234567890}'),
  cache_mark: mark,
});
const answer = (id: string): Part => ({
  kind: 'tool_result',
  call_id: id,
  parts: [],
  is_error: false,
  cache_mark: null,
});

const turn = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'system', 'developer'), parts: fc.array(text, { maxLength: 3 }) }),
  fc.record({ role: fc.constant('assistant'), parts: fc.array(spoken, { maxLength: 3 }) }),
  fc.record({ role: fc.constant('user'), parts: callId.map((id) => [answer(id)]) }),
);
/** Calls and their results, sometimes all of them and in another order. */
const calling = fc.array(call, { minLength: 1, maxLength: 3 }).chain((calls) => {
  const ids = calls.map((part) => (part.kind === 'tool_call' ? part.id : ''));
  return fc
    .shuffledSubarray(ids, { minLength: Math.max(0, ids.length - 1) })
    .map((answered) => [
      { role: 'assistant', parts: calls },
      ...answered.map((id) => ({ role: 'user', parts: [answer(id)] })),
    ]);
});
const turns: fc.Arbitrary<Turn[]> = fc
  .array(fc.oneof({ arbitrary: turn.map((one) => [one]), weight: 2 }, calling), { maxLength: 6 })
  .map((groups) => groups.flat().map((one, index) => ({ ...one, name: null, path: `messages.${index}` }) as Turn));

const PLAIN_NAME = /^[A-Za-z0-9_-]{1,128}$/;

/** Every rule of the format that the rendered body breaks. */
function violations(body: JsonObject): string[] {
  const broken: string[] = [];
  const messages = asArray(body.messages).map((message) => asObject(message) ?? {});
  if (messages[0]?.role !== 'user') broken.push('the first turn is not the user’s');
  let marks = asArray(body.system).filter((block) => asObject(block)?.cache_control !== undefined).length;
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = asArray(content).map((block) => asObject(block) ?? {});
    if (blocks.length === 0) broken.push('an empty turn');
    if (role !== 'system' && messages[index - 1]?.role === role) broken.push('two turns of one role');
    if (blocks.some((block) => block.type === 'text' && String(block.text).trim() === '')) broken.push('a blank text');
    const uses = blocks.filter(({ type }) => type === 'tool_use');
    for (const { id, name } of uses) {
      if (!PLAIN_NAME.test(String(id)) || !PLAIN_NAME.test(String(name)))
        broken.push(`the id ${id} or the name ${name}`);
    }
    const next = asArray(messages[index + 1]?.content).map((block) => asObject(block) ?? {});
    const answered = next.slice(0, uses.length).map((block) => block.tool_use_id);
    if (answered.join() !== uses.map(({ id }) => id).join()) broken.push('calls and results that do not match');
    if (next.slice(uses.length).some(({ type }) => type === 'tool_result')) broken.push('a result too many');
    marks += blocks.filter(({ cache_control }) => cache_control !== undefined).length;
  }
  return marks > 4 ? [...broken, `${marks} marks`] : broken;
}

test.each([true, false])('every rendered request is legal or was refused (system turns: %p)', (systemTurns) => {
  let written = 0;
  fc.assert(
    fc.property(turns, (conversation) => {
      const request = requestWith({ turns: conversation });
      const traits = withMessagesTraits({ systemTurns });
      if (refusal(() => render(request, traits)) !== null) return;
      const { body, json } = render(request, traits);
      expect(violations(body)).toEqual([]);
      expect(Buffer.from(json).toString()).toBe(json);
      expect(parse(json, true).dropped).toEqual([]);
      written += 1;
    }),
    { numRuns: 400 },
  );
  expect(written).toBeGreaterThan(100);
});

test('the rules see a body that breaks them', () => {
  const text = { type: 'text', text: ' ' };
  const use = { type: 'tool_use', id: 'a:', name: 't' };
  const messages = [
    { role: 'assistant', content: [text] },
    { role: 'assistant', content: [use] },
    { role: 'user', content: [] },
  ];
  expect(violations({ messages })).toEqual([
    'the first turn is not the user’s',
    'a blank text',
    'two turns of one role',
    'the id a: or the name t',
    'calls and results that do not match',
    'an empty turn',
  ]);
  expect(violations(render(requestWith({}), CAPABLE).body)).toEqual([]);
});
