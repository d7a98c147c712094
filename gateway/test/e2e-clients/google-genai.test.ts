/** Tests Google's Gen AI SDKs for JavaScript and Python through the gateway, with upstreams of the other formats and of its own. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import type { ClientDriver } from './client-driver.ts';
import { clientSuite } from './client-suite.ts';
import { installationOf, loadDrivers } from './installed-clients.ts';

clientSuite('google-genai', 'genai', 'gemini');
clientSuite('google-genai-python', 'genai', 'gemini');

const MODEL = 'gemini-3-flash';

for (const file of ['google-genai', 'google-genai-python'] as const) {
  const { isInstalled, needs } = installationOf(file);
  describe.skipIf(!isInstalled)(`${file} with Gemini upstream ${needs}`, () => {
    let pair: Pair;
    let driver: ClientDriver | undefined;
    const target = () => ({ url: pair.gateway.url, key: pair.gateway.key, model: MODEL });
    beforeAll(async () => {
      driver = (await loadDrivers(file)).genai;
      pair = await startPair((fakeUrl) => ({
        providers: { google: { kind: 'gemini', base_url: fakeUrl, api_key: 'AIza-upstream' } },
        models: { [MODEL]: { targets: [{ provider: 'google' }], price: { input: 1, output: 5 } } },
      }));
    });
    afterAll(() => pair?.stop());

    test('answers and streams, thoughts included', async () => {
      pair.fake.script(MODEL, { say: { reasoning: 'Two and two.', text: 'It is four.' } });
      for (const answer of [await driver?.ask(target(), 'Sum?'), await driver?.askStreamed(target(), 'Sum?')])
        expect(answer).toMatchObject({ text: 'It is four.', reasoning: 'Two and two.', finishReason: 'STOP' });
    });

    test.each([false, true])(
      'runs tools, streamed: %p; the upstream accepts the signatures that come back',
      async (streamed) => {
        const call = { id: 'call_1', name: 'get_weather', input: { city: 'Bern' } };
        pair.fake.script(MODEL, [{ say: { calls: [call] } }, { say: { text: 'Sunny.' } }]);
        expect(await driver?.runTools(target(), 'Weather?', streamed)).toEqual({
          text: 'Sunny.',
          cities: ['Bern'],
          steps: 2,
        });
      },
    );
  });
}
