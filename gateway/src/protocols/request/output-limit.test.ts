/** Tests output limits: which members a provider may read as an output limit other than the caller's. */
import { expect, test } from 'bun:test';
import { checkRequest as checkChat } from '../chat/client/client-protocol.ts';
import { checkRequest as checkMessages } from '../messages/client/client-protocol.ts';
import { CONTEXT, outlineOf } from '../testing/outline-of.ts';
import { mayChangeLimit } from './request-facts.ts';

test.each([
  ['MAX_TOKENS', true],
  ['Max_Completion_Tokens', true],
  ['N', true],
  // A long s and a Kelvin sign, which case-insensitive decoders read as s and k.
  ['max_token\u017f', true],
  ['max_to\u212aens', true],
  ['n_predict', true],
  ['max_new_tokens', true],
  ['max_tools', false],
  ['x', false],
  ['seed', false],
  ['stop', false],
])('%s: %p', (name, found) => {
  expect(mayChangeLimit(name)).toBe(found);
});

const messages = [{ role: 'user', content: 'hi' }];

test.each([
  ['one limit', { max_tokens: 5 }, { outputTokensMax: 5, outputLimitMember: 'max_tokens', otherLimit: null }],
  [
    'the newer one alone',
    { max_completion_tokens: 5 },
    { outputTokensMax: 5, outputLimitMember: 'max_completion_tokens', otherLimit: null },
  ],
  [
    'both: the newer one binds',
    { max_tokens: 9, max_completion_tokens: 5 },
    { outputTokensMax: 5, outputLimitMember: 'max_completion_tokens', otherLimit: 9 },
  ],
  [
    'one of them null',
    { max_tokens: 9, max_completion_tokens: null },
    { outputTokensMax: 9, outputLimitMember: 'max_tokens', otherLimit: null },
  ],
  ['none', {}, { outputTokensMax: null, outputLimitMember: null, otherLimit: null }],
])('the limits of a chat body, %s', (_, members, facts) => {
  expect(checkChat(outlineOf({ model: 'm', messages, ...members }), CONTEXT)).toMatchObject({
    ...facts,
    mayChangeLimit: false,
  } as object);
});

test('a member that a host may read as a limit is found in both formats', () => {
  const odd = { model: 'm', messages, max_tokens: 5, Max_Tokens: 9 };
  expect(checkChat(outlineOf(odd), CONTEXT).mayChangeLimit).toBe(true);
  expect(checkMessages(outlineOf(odd), CONTEXT).mayChangeLimit).toBe(true);
  const even = { model: 'm', messages, max_tokens: 5 };
  expect(checkMessages(outlineOf(even), CONTEXT)).toMatchObject({
    outputLimitMember: 'max_tokens',
    mayChangeLimit: false,
  });
});
