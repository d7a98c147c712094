/** Tests that a model is sent only what the catalog or the configuration says it accepts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post } from './calls.ts';
import { bodyFor, lastSent } from './translated-rig.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => {
    const base_url = `${url}/v1`;
    const preset = (name: string) => ({ kind: 'openai-compatible', preset: name, base_url, api_key: 'none' });
    const at = (provider: string, more: object = {}) => ({ targets: [{ provider }], ...more });
    return {
      providers: {
        groq: preset('groq'),
        mistral: preset('mistral'),
        ollama: preset('ollama'),
        deepseek: preset('deepseek'),
        xai: preset('xai'),
        lab: { kind: 'openai-compatible', base_url, api_key: 'none' },
        'lab-messages': { kind: 'anthropic', base_url, api_key: 'none' },
      },
      models: {
        'llama-3.3-70b-versatile': at('groq'),
        'openai/gpt-oss-120b': at('groq'),
        'mistral-large-latest': at('mistral'),
        'llama4:8b': at('ollama'),
        'deepseek-v4-pro': at('deepseek'),
        'grok-4': at('xai'),
        unknown: at('lab'),
        thinker: at('lab', { capabilities: { reasoning: true, reasoning_effort: ['low', 'high'] } }),
        any: at('lab', { capabilities: { reasoning: true } }),
        plain: at('lab', { capabilities: { reasoning: false, sampling: false, parallel_tool_calls: false } }),
        newer: at('lab', { capabilities: { output_limit: 'max_completion_tokens', image: false } }),
        'claude-own': at('lab-messages', { capabilities: { temperature_with_top_p: false, thinking: ['adaptive'] } }),
      },
    };
  });
});
afterAll(() => pair.stop());

async function sent(model: string, members: Readonly<Record<string, unknown>>, side: 'chat' | 'messages' = 'messages') {
  pair.fake.script(model, { answer: 'ok' });
  const response = await post(pair.gateway, side, bodyFor(side, model, members));
  expect([model, response.status]).toEqual([model, 200]);
  await response.text();
  return { body: lastSent(pair, model), dropped: response.headers.get('x-tollgate-dropped') };
}

const THINK = { thinking: { type: 'enabled', budget_tokens: 16_000 }, max_tokens: 20_000 };

describe('reasoning', () => {
  test.each(['llama-3.3-70b-versatile', 'mistral-large-latest', 'llama4:8b', 'grok-4', 'unknown', 'plain'])(
    'no effort is sent to %s, and the caller is told',
    async (model) => {
      const { body, dropped } = await sent(model, { ...THINK, max_tokens: 17_000 });
      expect([body.reasoning_effort, dropped]).toEqual([undefined, 'thinking']);
    },
  );

  test.each([
    ['openai/gpt-oss-120b', 'high'],
    ['deepseek-v4-pro', 'high'],
    ['thinker', 'high'],
    ['any', 'high'],
  ])('%s gets its effort', async (model, effort) => {
    const { body, dropped } = await sent(model, THINK);
    expect([body.reasoning_effort, dropped]).toEqual([effort, null]);
  });

  test('an effort that a model does not have becomes the nearest, and never none', async () => {
    const { body, dropped } = await sent('thinker', { output_config: { effort: 'xhigh' } });
    expect([body.reasoning_effort, dropped]).toEqual(['high', 'output_config.effort']);
  });
});

test('sampling goes only to models that take it', async () => {
  const { body, dropped } = await sent('plain', { temperature: 0.4, top_p: 0.5 });
  expect([body.temperature, body.top_p, dropped]).toEqual([undefined, undefined, 'temperature,top_p']);
});

test('the limit goes by the member that the file names', async () => {
  expect((await sent('newer', { max_tokens: 77 })).body).toMatchObject({ max_completion_tokens: 77 });
});

test('an image is refused for a model that accepts none by the file', async () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
  const messages = [{ role: 'user', content: [image] }];
  const response = await post(pair.gateway, 'messages', bodyFor('messages', 'newer', { messages }));
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('image')]);
});

test('a model of a messages host gets one of temperature and top_p, and the thinking that it takes', async () => {
  const sentMembers = { temperature: 0.4, top_p: 0.5, max_tokens: 9_000 };
  const sampled = await sent('claude-own', sentMembers, 'chat');
  expect([sampled.body.temperature, sampled.body.top_p, sampled.dropped]).toEqual([0.4, undefined, 'top_p']);
  const thought = await sent('claude-own', { reasoning_effort: 'high', max_tokens: 9_000 }, 'chat');
  expect(thought.body.thinking).toMatchObject({ type: 'adaptive' });
});
