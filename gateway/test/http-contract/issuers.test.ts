/**
 * Tests that a conversation keeps its signed reasoning at another target or credential of the same issuer, and loses it
 * at one of another issuer, which `x-tollgate-dropped` says: in the provider's own format, and translated.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, sentTexts, startPair } from '../harness/start-pair.ts';
import { post, type Side } from './calls.ts';

const SIGNATURE = 'EqQBCgIYAhIMsigned';
const REFUSED = { status: 401, errorBodyBytes: 90 };
const OVERLOADED = { status: 529, errorBodyBytes: 90 };

/** Where the second request of a conversation goes: to a second provider or a second key. `akin`: of one organization. */
const WAYS = [false, true].flatMap((pooled) => [false, true].map((akin) => ({ pooled, akin })));
const cases = (['chat', 'messages'] as const).flatMap((side) => WAYS.map((way) => ({ side, ...way })));
const nameOf = (side: Side, pooled: boolean, akin: boolean) =>
  `claude-${side}-${pooled ? 'keys' : 'providers'}-${akin ? 'akin' : 'apart'}`;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => {
    const providers: Record<string, object> = {};
    const models: Record<string, object> = {};
    const provider = (kind: object, keys: readonly string[]) => ({
      ...kind,
      base_url: `${url}/v1`,
      api_keys: keys.map((organisation, index) => ({ name: `key-${index}`, key: `sk-${index}`, organisation })),
    });
    const add = (model: string, kind: object, pooled: boolean, akin: boolean) => {
      const organisations = ['acme', akin ? 'acme' : 'other'];
      const pools = pooled ? [organisations] : organisations.map((one) => [one]);
      const names = pools.map((keys, index) => {
        providers[`${model}-${index}`] = provider(kind, keys);
        return `${model}-${index}`;
      });
      models[model] = { targets: names.map((name) => ({ provider: name })), price: { input: 1, output: 5 } };
    };
    for (const { side, pooled, akin } of cases) add(nameOf(side, pooled, akin), { kind: 'anthropic' }, pooled, akin);
    for (const akin of [false, true]) {
      add(`deepseek-${akin ? 'akin' : 'apart'}`, { kind: 'openai-compatible', preset: 'deepseek' }, false, akin);
    }
    return { providers, models };
  });
});
afterAll(() => pair.stop());

/** The history of a second turn, with signed reasoning in the client's format. */
function historyOf(side: Side): readonly object[] {
  const asked = { role: 'user', content: 'Good day.' };
  const said =
    side === 'messages'
      ? { role: 'assistant', content: [thinking(SIGNATURE), { type: 'text', text: 'Good day.' }] }
      : { role: 'assistant', content: 'Good day.', reasoning_details: [reasoning(SIGNATURE)] };
  return [asked, said, { role: 'user', content: 'And now?' }];
}

const thinking = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });
const reasoning = (signature: string) => ({
  type: 'reasoning.text',
  text: 'hm',
  signature,
  format: 'anthropic-claude-v1',
});

function send(side: Side, model: string, messages: readonly object[]): Promise<Response> {
  const body = { model, messages, max_tokens: 64 };
  return post(pair.gateway, side, body, { 'x-session-id': model });
}

describe.each(cases)('a $side client, keys of one provider: $pooled, one organization: $akin', (one) => {
  const { side, pooled, akin } = one;
  const model = nameOf(side, pooled, akin);

  test('keeps or loses its reasoning', async () => {
    const failed = pooled ? REFUSED : OVERLOADED;
    pair.fake.script(model, [{ answer: 'ok' }, failed, { answer: 'ok' }]);
    const first = await send(side, model, [{ role: 'user', content: 'Good day.' }]);
    const second = await send(side, model, historyOf(side));
    expect([first.status, second.status, second.headers.get('x-tollgate-attempts')]).toEqual([200, 200, '2']);
    const [, own, other] = sentTexts(pair, model);
    expect([own?.includes(SIGNATURE), other?.includes(SIGNATURE)]).toEqual([true, akin]);
    const member = side === 'messages' ? 'messages[].content[].thinking' : 'messages[].reasoning';
    expect(second.headers.get('x-tollgate-dropped')).toBe(akin ? null : member);
  });
});

test.each([true, false])('reasoning with our mark goes to another provider of one organization: %p', async (akin) => {
  const model = `deepseek-${akin ? 'akin' : 'apart'}`;
  const message = { role: 'assistant', content: 'Good day.', reasoning_content: 'a secret thought' };
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const json = { choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  pair.fake.script(model, [{ json }, OVERLOADED, { json }]);
  const asked = { role: 'user', content: 'Good day.' };
  const first = await send('messages', model, [asked]);
  const { content } = (await first.json()) as { content: readonly { type: string }[] };
  expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
  const second = await send('messages', model, [asked, { role: 'assistant', content }, asked]);
  expect([second.status, second.headers.get('x-tollgate-attempts')]).toEqual([200, '2']);
  const [, own, other] = sentTexts(pair, model);
  expect([own, other].map((text) => text?.includes('a secret thought'))).toEqual([true, akin]);
  expect(second.headers.get('x-tollgate-dropped')).toBe(akin ? null : 'messages[].content[].thinking');
});
