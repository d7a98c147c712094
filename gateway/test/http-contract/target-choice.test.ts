/** Tests to which of a model's targets a request goes: by weight and session, by required tags, by format. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, type HeaderChanges, post, type Side } from './calls.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';

const MODELS = ['north', 'south', 'eu-chat', 'eu-messages', 'anywhere'] as const;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => ({
    providers: {
      lab: { kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'none' },
      'lab-messages': { kind: 'anthropic', base_url: `${url}/v1`, api_key: 'none' },
    },
    models: {
      spread: {
        price: 'free',
        targets: [
          { provider: 'lab', model: 'north', weight: 1 },
          { provider: 'lab', model: 'south', weight: 1 },
        ],
      },
      placed: {
        price: 'free',
        targets: [
          { provider: 'lab', model: 'anywhere' },
          { provider: 'lab', model: 'eu-chat', tags: ['eu'] },
          { provider: 'lab-messages', model: 'eu-messages', tags: ['eu', 'zdr'] },
        ],
      },
      'last-chat': {
        price: 'free',
        targets: [
          { provider: 'lab-messages', model: 'eu-messages', tags: ['eu'] },
          { provider: 'lab', model: 'eu-chat', tags: ['eu'] },
        ],
      },
      'no-chat': {
        price: 'free',
        targets: [
          { provider: 'lab-messages', model: 'eu-messages' },
          { provider: 'lab-messages', model: 'anywhere' },
        ],
      },
      alone: { price: 'free', targets: [{ provider: 'lab', model: 'anywhere' }] },
      advised: {
        price: 'free',
        targets: [
          { provider: 'lab-messages', model: 'eu-messages', tags: ['eu'] },
          { provider: 'lab-messages', model: 'anywhere' },
        ],
      },
    },
  }));
  for (const model of MODELS) pair.fake.script(model, { answer: 'ok' });
});
afterAll(() => pair.stop());

/** The provider's model that answered. */
async function answeredBy(model: string, changes: HeaderChanges = {}, side: Side = 'chat', members: object = {}) {
  const before = MODELS.map((name) => pair.fake.served(name).length);
  const response = await post(pair.gateway, side, goodBody(side, { model, ...members }), changes);
  await response.text();
  expect(response.status).toBe(200);
  return MODELS.filter((name, index) => pair.fake.served(name).length > (before[index] ?? 0)).join();
}

test('a session stays at one target, and sessions spread over both', async () => {
  const targets = new Set<string>();
  for (let session = 0; session < 8; session += 1) {
    const headers = { 'x-session-id': `session-${session}` };
    const first = await answeredBy('spread', headers);
    expect(await answeredBy('spread', headers)).toBe(first);
    targets.add(first);
  }
  expect([...targets].sort()).toEqual(['north', 'south']);
});

describe('required tags', () => {
  test('a request goes to a target that has them all', async () => {
    expect(await answeredBy('placed')).toBe('anywhere');
    expect(await answeredBy('placed', { 'x-tollgate-require': 'eu' })).toBe('eu-chat');
    expect(await answeredBy('placed', { 'x-tollgate-require': 'EU, zdr' })).toBe('eu-messages');
  });

  test('a model without such a target is refused, also if it has only one', async () => {
    for (const [model, tags] of [
      ['placed', 'us'],
      ['alone', 'eu'],
    ] as const) {
      for (const side of ['chat', 'messages'] as const) {
        const response = await post(pair.gateway, side, goodBody(side, { model }), { 'x-tollgate-require': tags });
        await expectRefusal(response, side, {
          status: 403,
          type: 'permission_error',
          code: 'forbidden',
          param: 'model',
          says: `required data tags (${tags})`,
        });
      }
    }
  });

  test('a model that a request names beside its own must have them too', async () => {
    const askFor = (fallbacks: unknown, changes: HeaderChanges) =>
      post(pair.gateway, 'messages', goodBody('messages', { model: 'advised', fallbacks }), changes);
    const ask = (model: string, changes: HeaderChanges) => askFor([{ model }], changes);
    const required = { 'x-tollgate-require': 'eu' };
    for (const [model, changes] of [
      ['anywhere', {}],
      ['eu-messages', required],
    ] as const) {
      const response = await ask(model, changes);
      await response.text();
      expect(response.status).toBe(200);
    }
    const before = pair.fake.served('eu-messages').length;
    await expectRefusal(await ask('anywhere', required), 'messages', {
      status: 403,
      type: 'permission_error',
      says: 'fallbacks.0.model: the model "anywhere" does not have the required data tags (eu)',
    });
    await expectRefusal(await askFor('default', required), 'messages', {
      status: 403,
      type: 'permission_error',
      says: 'not all of them have the required data tags (eu)',
    });
    expect(pair.fake.served('eu-messages')).toHaveLength(before);
  });

  test('a word that is no tag is refused', async () => {
    const response = await post(pair.gateway, 'chat', goodBody('chat', { model: 'alone' }), {
      'x-tollgate-require': 'eu;zdr',
    });
    await expectRefusal(response, 'chat', invalid('chat', 'x-tollgate-require: found "eu;zdr"', 'x-tollgate-require'));
  });
});

test('a member that no other format can carry keeps the request in its own', async () => {
  const headers = { 'x-tollgate-require': 'eu' };
  expect(await answeredBy('last-chat', headers, 'chat', { logprobs: true })).toBe('eu-chat');
  expect(await answeredBy('last-chat', headers, 'chat')).toBe('eu-messages');
  const response = await post(pair.gateway, 'chat', goodBody('chat', { model: 'no-chat', logprobs: true }));
  await expectRefusal(
    response,
    'chat',
    invalid('chat', 'no target of the model "no-chat" speaks the format', 'logprobs'),
  );
});
