/** Tests strip-reasoning.ts: reasoning goes with the ids after it, and every other byte of an item stays. */
import { expect, test } from 'bun:test';
import { stripReasoning } from './strip-reasoning.ts';

const strip = (text: string, strips = (sealed: string) => sealed.startsWith('gw1.')) =>
  Buffer.from(stripReasoning(Buffer.from(text), strips)).toString();

const OURS = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gw1.x"}';
const THEIRS = '{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"blob"}';
const CALL = '{"type":"function_call", "id":"fc_1","call_id":"c","name":"f","arguments":"{\\u0022n\\u0022:1.0}"}';
const body = (...items: readonly string[]) =>
  `{ "model":"m", "input": [${items.join(', ')}], "n": 12345678901234567890 }`;
const rest = (...items: readonly string[]) =>
  `{ "model":"m", "input": [${items.join(',')}], "n": 12345678901234567890 }`;

test('of the chosen items only, with the ids of the assistant’s items after them', () => {
  const user = '{"role":"user","id":"msg_9","content":"a"}';
  const message = '{"type":"message","role":"assistant","id":"msg_1","content":[]}';
  const output = '{"type":"function_call_output","id":"fco_1","call_id":"c","output":"x"}';
  expect(strip(body(user, OURS, message, CALL, output, THEIRS, CALL))).toBe(
    rest(
      user,
      '{"type":"message","role":"assistant","content":[]}',
      '{"type":"function_call","call_id":"c","name":"f","arguments":"{\\u0022n\\u0022:1.0}"}',
      output,
      THEIRS,
      CALL,
    ),
  );
});

test('all of it, where another organization answers', () => {
  expect(strip(body(THEIRS, OURS), () => true)).toBe(rest());
});

test.each([body(THEIRS, CALL), '{"input":"gw1."}', '{"input":[]}', '{"a":1}', '[]', 'x'])('nothing of %s', (text) => {
  expect(strip(text)).toBe(text);
});
