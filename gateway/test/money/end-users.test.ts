/**
 * Tests a limit on every end user: each is identified by one id in any spelling, and all calls without an id share one.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post } from '../http-contract/calls.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => pointAt(url, { chat: ['ok'], messages: ['m-ok'] }));
  pair.fake.script('m-ok', {});
  await pair.gateway.run('limits', 'set', '--end-user', '*', '--rpm', '2');
});
afterAll(() => pair.stop());

const messages = [{ role: 'user', content: 'Good day.' }];

async function chat(members: object): Promise<number> {
  return (await post(pair.gateway, 'chat', { model: 'ok', messages, ...members })).status;
}

test('requests that name no end user share one subject, on both endpoints', async () => {
  const unnamed = await post(pair.gateway, 'messages', { model: 'm-ok', max_tokens: 9, messages });
  const statuses = [unnamed.status, await chat({}), await chat({ user: '' }), await chat({ user: '\u200b ' })];
  expect(statuses).toEqual([200, 200, 429, 429]);
});

test('an end user is the same by user, safety_identifier and metadata.user_id, however the id is written', async () => {
  const statuses = [
    await chat({ user: 'bob' }),
    await chat({ safety_identifier: ' bob\u200b' }),
    await chat({ metadata: { user_id: 'ｂｏｂ' } }),
    await chat({ user: 'b\u2060ob' }),
    await chat({ user: 'Bob' }),
  ];
  expect(statuses).toEqual([200, 200, 429, 429, 200]);
  const records = await pair.gateway.calls();
  expect(records.filter(({ end_user }) => end_user === 'bob')).toHaveLength(4);
});
