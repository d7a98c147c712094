/** Shows what happens where records cannot be written: calls are refused as ours, streams end in-band, and it passes. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, recordsById } from './calls.ts';

/** The kernel's bound on the size of a file stands in for a full disk: it can be set and lifted while the process runs. */
const canBound = Bun.which('prlimit') !== null;
if (!canBound) console.log('disk full: skipped, there is no prlimit on this machine');

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    pointAt(url, { chat: ['chat-now', 'chat-long'], messages: ['messages-now', 'messages-long'] }),
  );
});
afterAll(() => pair.stop());

function boundFiles(soft: string): void {
  const { exitCode, stderr } = Bun.spawnSync([
    'prlimit',
    '--pid',
    String(pair.gateway.pid),
    `--fsize=${soft}:unlimited`,
  ]);
  if (exitCode !== 0) throw new Error(`prlimit: ${stderr}`);
}

const readyStatus = async () => (await fetch(`${pair.gateway.url}/readyz`)).status;

test.skipIf(!canBound)(
  `${canBound ? '' : 'skipped, no prlimit: '}a full disk is 503 store_away on both protocols, in-band on open streams, and mends itself`,
  async () => {
    const { fake, gateway } = pair;
    for (const protocol of PROTOCOLS) fake.script(`${protocol}-now`, {});
    for (const protocol of PROTOCOLS) fake.script(`${protocol}-long`, { answer: 'long:60', delayBetweenEventsMs: 30 });
    const streams = PROTOCOLS.map((protocol) => ask(gateway, { protocol, model: `${protocol}-long`, stream: true }));
    await fake.waitFor((call) => call.eventsSent >= 3, { count: streams.length });
    boundFiles('1');
    const first = await ask(gateway, { protocol: 'chat', model: 'chat-now', stream: false });
    expect([first.status, JSON.parse(first.text).error.code]).toEqual([503, 'internal_error']);
    expect(first.text).toContain('recorded');
    const second = await ask(gateway, { protocol: 'messages', model: 'messages-now', stream: false });
    expect([second.status, JSON.parse(second.text).error.type]).toEqual([503, 'api_error']);
    expect(second.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await readyStatus()).toBe(503);
    for (const [index, answer] of (await Promise.all(streams)).entries()) {
      const protocol = PROTOCOLS[index] ?? 'chat';
      expect([answer.status, endsInError(protocol, answer.text), hasTerminal(protocol, answer.text)]).toEqual([
        200,
        true,
        false,
      ]);
    }
    boundFiles('unlimited');
    await eventually(
      'the gateway to be ready again',
      async () => ((await readyStatus()) === 200 ? true : null),
      15_000,
    );
    const after = await ask(gateway, { protocol: 'chat', model: 'chat-now', stream: false });
    expect(after.status).toBe(200);
    expect((await recordsById(gateway)).get(after.requestId)?.error).toBe(null);
  },
  30_000,
);
