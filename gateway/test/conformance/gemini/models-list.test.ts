/** Tests that the models which Google lists are found, by names that a target may have, without those that only embed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { probeProvider } from '../../../src/call/attempt/probe-provider.ts';
import { buildRemoteProvider } from '../../../src/config/resolve-providers.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { gemini } from '../../../src/providers/kinds/gemini.ts';
import { singleCredential } from '../../../src/providers/provider.ts';
import { type FakeUpstream, startFakeUpstream } from '../../fake-upstream/start-fake-upstream.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

const TIMEOUTS = { connectMs: 5_000, firstByteMs: 5_000, firstBytePlainMs: 5_000, idleMs: 5_000, totalMs: 5_000 };

test('the list of AI Studio', async () => {
  const models = [
    { name: 'models/gemini-3-pro', supportedGenerationMethods: ['generateContent', 'countTokens'] },
    { name: 'models/gemini-embedding-2', supportedGenerationMethods: ['embedContent'] },
    { name: 'tunedModels/ferry-1', supportedGenerationMethods: ['generateContent'] },
  ];
  fake.script('models', [{ json: { models } }]);
  const provider = buildRemoteProvider({
    name: 'google',
    kind: gemini,
    preset: null,
    address: { url: fake.url, origin: fake.url },
    pool: singleCredential({ api_key: new Secret('AIza-0123456789') }),
    timeouts: TIMEOUTS,
  });
  expect(await probeProvider(provider)).toMatchObject({
    ok: true,
    models: [{ model: 'gemini-3-pro' }, { model: 'gemini-embedding-2' }, { model: 'tunedModels/ferry-1' }],
  });
});
