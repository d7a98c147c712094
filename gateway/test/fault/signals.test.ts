/**
 * Tests how a server ends: open streams finish after SIGTERM, a second Ctrl-C ends them, signals are handled from the
 * first words on, and the server ends when its launcher dies.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, recordsById } from './calls.ts';

const STREAMS = 200;
const LAUNCHER = join(import.meta.dir, '../../../bin/tollgate');

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

function askMany(gateway: { readonly url: string; readonly key: string }, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const protocol = PROTOCOLS[index % PROTOCOLS.length] ?? 'chat';
    return ask(gateway, { protocol, model: `${protocol}-slow`, stream: true }).then((answer) => ({ protocol, answer }));
  });
}

const config = () =>
  pointAt(fake.url, { chat: ['chat-slow'], messages: ['messages-slow'], limits: { drain: '200ms' } });

/** Scripts both models and waits until that many of their streams have begun. */
function begun(count: number): Promise<unknown> {
  return fake.waitFor((call) => call.finished === 'open' && call.eventsSent >= 3, { count, timeoutMs: 10_000 });
}

test(`SIGTERM with ${STREAMS} open streams: all finish whole and the server exits with 0`, async () => {
  fake.reset();
  for (const protocol of PROTOCOLS) fake.script(`${protocol}-slow`, { answer: 'long:30', holdAfterEvent: 3 });
  const gateway = await startGateway({ config: config() });
  const answers = askMany(gateway, STREAMS);
  await begun(STREAMS);
  gateway.signal('SIGTERM');
  await eventually('the end to begin', async () =>
    (await fetch(`${gateway.url}/readyz`)).status === 503 ? true : null,
  );
  fake.release();
  const ended = await Promise.all(answers);
  expect(ended.filter(({ protocol, answer }) => !hasTerminal(protocol, answer.text)).length).toBe(0);
  expect(await gateway.exited).toBe(0);
  const records = await recordsById(gateway);
  await gateway.stop();
  expect(ended.filter(({ answer }) => records.get(answer.requestId)?.error !== null).length).toBe(0);
});

test('while open streams finish, new requests get 503 with retry-after on connections that close', async () => {
  fake.reset();
  for (const protocol of PROTOCOLS) fake.script(`${protocol}-slow`, { answer: 'long:60', holdAfterEvent: 3 });
  const gateway = await startGateway({ config: config() });
  const running = askMany(gateway, 4);
  await begun(4);
  gateway.signal('SIGTERM');
  const refused = await eventually('a refusal', async () => {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'chat-slow',
        messages: [{ role: 'user', content: 'x' }],
        max_tokens: 1,
        stream: true,
      }),
    });
    await reply.body?.cancel();
    return reply.status === 503 ? reply : null;
  });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('connection')).toBe('close');
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  fake.release();
  const ended = await Promise.all(running);
  expect(ended.filter(({ protocol, answer }) => !hasTerminal(protocol, answer.text))).toEqual([]);
  expect(await gateway.exited).toBe(0);
  await gateway.stop();
});

test('a second Ctrl-C ends open streams in-band, with a record each, and exits with 0', async () => {
  fake.reset();
  for (const protocol of PROTOCOLS) fake.script(`${protocol}-slow`, { answer: 'long:5000', delayBetweenEventsMs: 20 });
  const gateway = await startGateway({ config: config() });
  const answers = askMany(gateway, 20);
  await begun(20);
  gateway.signal('SIGINT');
  // Signals within one second count as one, so this repeats until the server has ended.
  const presses = setInterval(() => gateway.signal('SIGINT'), 300);
  const status = await gateway.exited;
  clearInterval(presses);
  expect(status).toBe(0);
  const ended = await Promise.all(answers);
  expect(ended.filter(({ protocol, answer }) => !endsInError(protocol, answer.text)).length).toBe(0);
  const records = await recordsById(gateway);
  await gateway.stop();
  expect(ended.map(({ answer }) => records.get(answer.requestId)?.error)).toEqual(ended.map(() => 'draining'));
});

function startAndSignal(signal: NodeJS.Signals, preloaded = 'signal-at-first-words.ts') {
  const preload = join(import.meta.dir, preloaded);
  return startGateway({
    config: config(),
    environment: { BUN_OPTIONS: `--preload=${preload}`, TOLLGATE_TEST_SIGNAL: signal },
  });
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s at the first words ends the server with 0', async (signal) => {
  const gateway = await startAndSignal(signal);
  expect(await gateway.exited).toBe(0);
  await gateway.stop();
  expect(gateway.stderr()).toContain(signal);
});

test.each([
  ['at the first words', 'signal-at-first-words.ts'],
  ['during the start', 'signal-during-start.ts'],
])('SIGHUP %s reloads, and the server runs on', async (_, preload) => {
  const gateway = await startAndSignal('SIGHUP', preload);
  await eventually('the reload', () => (gateway.stderr().includes('the configuration was reloaded') ? true : null));
  expect(await gateway.stop()).toBe(0);
});

test('a server whose launcher was killed with -9 ends', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-launcher-'));
  const environment = { PATH: process.env.PATH ?? '', HOME: home, TOLLGATE_DATA_DIR: join(home, 'data') };
  const launcher = Bun.spawn(['node', LAUNCHER, 'serve', '--port', '0'], {
    cwd: home,
    env: environment,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  let output = '';
  void (async () => {
    for await (const chunk of launcher.stdout) output += new TextDecoder().decode(chunk);
  })();
  const url = await eventually('the server', () => /listens on (http:\/\/\S+)/.exec(output)?.[1], 15_000);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  launcher.kill('SIGKILL');
  const refused = () =>
    fetch(`${url}/healthz`).then(
      () => null,
      () => true,
    );
  expect(await eventually('the server to be gone', refused, 10_000)).toBe(true);
  rmSync(home, { recursive: true, force: true });
});
