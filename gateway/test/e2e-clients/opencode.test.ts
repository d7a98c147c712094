/**
 * Tests OpenCode through the gateway: a turn that ends well, and one that ends after its first requests, with the gateway's
 * words, where no money is left. Contract, 10.25.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { exhaustiveTest, firstOrAll } from '../harness/exhaustive.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { findOpenCode, NEEDS_CLIENTS } from './installed-clients.ts';
import { type RequestCounter, startRequestCounter } from './request-counter.ts';
import { makeSessionFolder, type SessionFolder } from './run-agent.ts';
import { OPENCODE_PACKAGES, type OpenCodeFormat, runOpenCode } from './run-opencode.ts';

const MODEL = 'public-model';
const ANSWER = 'The word is quince.';
const FORMATS = Object.keys(OPENCODE_PACKAGES) as OpenCodeFormat[];

const program = findOpenCode();

// Each turn takes seconds of processor time.
describe.skipIf(program === null)(`OpenCode ${NEEDS_CLIENTS}`, () => {
  let pair: Pair;
  let counter: RequestCounter;
  let folder: SessionFolder;
  beforeAll(async () => {
    pair = await startPair((fakeUrl) => ({
      providers: { lab: { kind: 'openai-compatible', base_url: `${fakeUrl}/v1`, api_key: 'none' } },
      models: { [MODEL]: { targets: [{ provider: 'lab' }], price: { input: 1, output: 5 } } },
    }));
  });
  beforeEach(async () => {
    counter = await startRequestCounter(pair.gateway.url);
    folder = makeSessionFolder({});
  });
  afterEach(() => {
    counter.stop();
    folder.remove();
  });
  afterAll(() => pair?.stop());

  async function turn(format: OpenCodeFormat, key: string) {
    const asked = { folder, baseUrl: counter.url, key, model: MODEL, prompt: 'Which word?', format };
    const { status, stdout, stderr } = await runOpenCode({ program: program ?? '', ...asked });
    return { status, said: stdout + stderr, statuses: counter.requests().map((request) => request.status) };
  }

  /** A turn that nothing pays for. `words`: of the command that creates its key. */
  async function endsFor(reason: string, words: readonly string[], format: OpenCodeFormat) {
    const made = await pair.gateway.run('keys', 'create', '--name', reason, ...words, '--json');
    const { id, key } = JSON.parse(made.stdout);
    const { status, said, statuses } = await turn(format, key);
    // One of the two asks for a title.
    expect([status, statuses, said.includes(reason)]).toEqual([1, [402, 402], true]);
    expect(await pair.gateway.calls('--key', id)).toMatchObject(
      Array(2).fill({ status: 402, error: 'quota_exceeded' }),
    );
  }

  exhaustiveTest('a turn ends well', async () => {
    pair.fake.script(MODEL, { say: { text: ANSWER } });
    const { status, said, statuses } = await turn('chat', pair.gateway.key);
    expect([status, said.includes(ANSWER), new Set(statuses)]).toEqual([0, true, new Set([200])]);
  });

  test.each(firstOrAll(FORMATS))('without budget a turn over %s ends at once, and it says why', (format) =>
    endsFor('budget', ['--budget-usd', '0.000001'], format),
  );

  exhaustiveTest('without balance as well', async () => {
    await pair.gateway.run('accounts', 'create', 'poor', '--mode', 'prepaid');
    await pair.gateway.run('workspaces', 'create', 'poor', '--account', 'poor');
    await endsFor('balance', ['--workspace', 'poor'], 'chat');
  });
});
