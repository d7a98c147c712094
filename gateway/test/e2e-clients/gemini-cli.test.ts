/**
 * Tests Gemini CLI through the gateway: headless sessions with an upstream of each format, and how many requests it makes
 * when one fails. Specification of other endpoints, 4.1 and 4.2.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { SIGNATURE } from '../fake-upstream/answer/messages-answer.ts';
import { SEAL } from '../fake-upstream/answer/responses-answer.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { findGeminiCli, NEEDS_CLIENTS } from './installed-clients.ts';
import { type RequestCounter, startRequestCounter } from './request-counter.ts';
import { makeSessionFolder, type SessionFolder } from './run-agent.ts';
import { runGeminiCli, SETTINGS } from './run-gemini-cli.ts';

const ANSWER = 'The words are marmalade and quince 🍋.';
const THOUGHT = 'A file first.';
const read = (id: string, file_path: string) => ({ id, name: 'read_file', input: { file_path } });

/** Upstream's model by its format; where the format carries the reasoning of an earlier answer. */
const SIDES = {
  // It wants earlier reasoning back.
  chat: { provider: { kind: 'openai-compatible', preset: 'moonshot' }, kept: `"reasoning_content":"${THOUGHT}"` },
  messages: { provider: { kind: 'anthropic' }, kept: `"signature":"${SIGNATURE}"` },
  // OpenAI serves it over Responses only.
  codex: { provider: { kind: 'openai' }, kept: `"encrypted_content":"${SEAL}"` },
  // The fake refuses calls without their signatures.
  'gemini-3': { provider: { kind: 'gemini' }, kept: '"thoughtSignature":"' },
} as const;
const SCENES = ['limited', 'rejecting', 'cut'] as const;

const program = findGeminiCli();

describe.skipIf(program === null)(`Gemini CLI ${NEEDS_CLIENTS}`, () => {
  let pair: Pair;
  let counter: RequestCounter;
  let folder: SessionFolder;
  beforeAll(async () => {
    pair = await startPair((fakeUrl) => {
      const base = (kind: string) => ({
        base_url: kind === 'gemini' ? fakeUrl : `${fakeUrl}/v1`,
        api_key: 'lab-credential',
      });
      const sides = Object.entries(SIDES).map(([name, { provider }]) => [
        name,
        { ...provider, ...base(provider.kind) },
      ]);
      const scenes = SCENES.map((scene) => [scene, { kind: 'openai-compatible', ...base('') }]);
      const names = [...Object.keys(SIDES), ...SCENES];
      const price = { input: 1, output: 5 };
      return {
        defaults: { routing: { max_extra_attempts: 0 } },
        providers: Object.fromEntries([...sides, ...scenes]),
        models: Object.fromEntries(names.map((name) => [`${name}-lab`, { targets: [{ provider: name }], price }])),
      };
    });
  });
  beforeEach(async () => {
    pair.fake.reset();
    counter = await startRequestCounter(pair.gateway.url);
    folder = makeSessionFolder({ ...SETTINGS, 'note.txt': 'marmalade\n', 'other.txt': 'quince\n' });
  });
  afterEach(() => {
    counter.stop();
    folder.remove();
  });
  afterAll(() => pair?.stop());

  const run = (model: string, key = pair.gateway.key) =>
    runGeminiCli({ program: program ?? '', folder, baseUrl: counter.url, key, model, prompt: 'Which words?' });
  const statuses = () => counter.requests().map(({ status }) => status);

  test.each(Object.entries(SIDES))('a session with files and kept reasoning, upstream %s', async (name, { kept }) => {
    const model = `${name}-lab`;
    pair.fake.script(model, [
      { say: { reasoning: THOUGHT, calls: [read('call_1', 'note.txt')] } },
      { say: { calls: [read('call_2', 'other.txt'), read('call_3', 'note.txt')] } },
      { say: { text: ANSWER } },
    ]);
    const session = await run(model);
    expect(session).toMatchObject({ status: 0, response: ANSWER });
    expect(statuses()).toEqual([200, 200, 200]);
    const [, , last] = pair.fake.served(model).map(({ requestBody }) => Buffer.from(requestBody).toString());
    for (const words of ['marmalade', 'quince', kept]) expect([words, last?.includes(words)]).toEqual([words, true]);
  });

  const fail = async (scene: (typeof SCENES)[number], scenario: Scenario | readonly Scenario[]) => {
    pair.fake.script(`${scene}-lab`, scenario);
    return run(`${scene}-lab`);
  };

  test('a rate limit makes it wait and ask again', async () => {
    const limit = { status: 429, headers: { 'retry-after': '1' }, errorBodyBytes: 100 };
    const session = await fail('limited', [limit, { say: { text: ANSWER } }]);
    expect([session.response, statuses()]).toEqual([ANSWER, [429, 200]]);
  });

  test('a refused request ends the turn after one request', async () => {
    const error = { message: 'there is no such thing', type: 'invalid_request_error', code: null, param: null };
    const session = await fail('rejecting', { status: 400, json: { error } });
    expect([session.error, statuses()]).toEqual([expect.stringContaining('no such thing'), [400]]);
  });

  test('a spent budget ends the turn', async () => {
    const words = ['--name', 'poor', '--budget-usd', '0.000001', '--json'];
    const { key } = JSON.parse((await pair.gateway.run('keys', 'create', ...words)).stdout);
    const session = await run('chat-lab', key);
    expect([session.error, statuses()]).toEqual([expect.stringContaining('budget'), [429]]);
  });

  test('a stream that breaks off is asked for again', async () => {
    const session = await fail('cut', [
      { answer: 'long:200', cut: { at: 6_000, how: 'fin' } },
      { say: { text: ANSWER } },
    ]);
    expect([session.response?.endsWith(ANSWER), statuses()]).toEqual([true, [200, 200]]);
  });
});
