/** Tests that thinking is removed from a body without a trace, and that nothing else changes. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { stripThinking } from './strip-thinking.ts';

const ours = (signature: string) => signature.startsWith('gw1.');
const thinking = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
const text = (words: string) => ({ type: 'text', text: words });

function stripped(body: object, strips = ours): unknown {
  return JSON.parse(Buffer.from(stripThinking(Buffer.from(JSON.stringify(body)), strips)).toString());
}

test('bytes without thinking are returned themselves', () => {
  const body = Buffer.from(
    JSON.stringify({ messages: [{ role: 'assistant', content: [thinking('EqQB'), text('a')] }] }),
  );
  expect(stripThinking(body, ours)).toBe(body);
  expect(stripThinking(Buffer.from('[1,'), ours).length).toBe(3);
});

test('vector 23: history from provider A replayed to provider B loses its thinking and keeps the rest', () => {
  const body = {
    max_tokens: 10,
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [thinking('gw1.a'), text('one'), thinking('gw1.b')] },
      { role: 'user', content: [text('again')] },
      { role: 'assistant', content: [thinking('EqQB'), { type: 'redacted_thinking', data: 'x' }, text('two')] },
    ],
  };
  expect(stripped(body)).toEqual({
    ...body,
    messages: [body.messages[0], { role: 'assistant', content: [text('one')] }, body.messages[2], body.messages[3]],
  });
  expect(stripped(body, () => true)).toMatchObject({
    messages: [{}, { content: [text('one')] }, {}, { content: [text('two')] }],
  });
});

test('a turn of thinking alone is removed', () => {
  const turns = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: [thinking('gw1.a')] },
  ];
  expect(stripped({ messages: turns })).toEqual({ messages: [turns[0]] });
});

test('every other byte stays: white space, digits, order, escapes', () => {
  const block = '{"type":"thinking","thinking":"\\u00e4","signature":"gw1.x"}';
  const body = (blocks: string) =>
    `{ "messages": [ {"role":"assistant","content":[${blocks}]} ],\n "n":12345678901234567890, "a":"\\u0041" }`;
  const rest = ' {"type":"tool_use","id":"t","name":"f","input":{"b":1.0,"a":9007199254740993}} ';
  expect(Buffer.from(stripThinking(Buffer.from(body(`${block} , ${rest.trim()} `)), ours)).toString()).toBe(
    body(`${rest.trim()} `),
  );
  expect(Buffer.from(stripThinking(Buffer.from(body(`${rest}, ${block}`)), ours)).toString()).toBe(
    body(rest.trimEnd()),
  );
});

test('a last turn of tools that lost its thinking turns a budget off, and no other kind of thinking', () => {
  const turn = {
    role: 'assistant',
    content: [thinking('gw1.a'), { type: 'tool_use', id: 't', name: 'f', input: {} }],
  };
  const asked = (type: string) => ({ thinking: { type, budget_tokens: 2048 }, messages: [turn] });
  expect(stripped(asked('enabled'))).toMatchObject({ thinking: { type: 'disabled' } });
  expect(stripped(asked('adaptive'))).toMatchObject({ thinking: { type: 'adaptive' } });
});

test('any mixture of blocks loses exactly those that are named', () => {
  const block = fc.oneof(
    fc.string().map(text),
    fc.constantFrom('gw1.a', 'gw1.b', 'EqQB', '').map(thinking),
    fc.constant({ type: 'redacted_thinking', data: 'gw1.z' }),
  );
  const turn = fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.array(block, { minLength: 1 }) });
  fc.assert(
    fc.property(fc.array(turn), fc.constantFrom(0, 1), (messages, indent) => {
      const bytes = Buffer.from(JSON.stringify({ messages }, null, indent));
      const keep = (one: object) =>
        !ours('signature' in one ? String(one.signature) : 'data' in one ? String(one.data) : '');
      const expected = messages
        .map((one) => ({ ...one, content: one.content.filter(keep) }))
        .filter((one) => one.content.length > 0);
      expect(JSON.parse(Buffer.from(stripThinking(bytes, ours)).toString())).toEqual({ messages: expected });
    }),
  );
});
