/**
 * Tests that a gateway whose event loop falls behind refuses new requests and leaves its streams unharmed. The process is
 * stopped again and again by a signal, so that its timers are late by the time that it did not run.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

/** Above the delay that counts as late, with the time until the timer was due. */
const STOP_MS = 450;
const ROUNDS_MAX = 100;
const ASKED_PER_ROUND = 3;
const STREAMS = 3;

const encoder = new TextEncoder();
const senders: ReadableStreamDefaultController<Uint8Array>[] = [];
const upstream = Bun.serve({
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const asked = (await request.json()) as { readonly stream?: boolean };
    if (asked.stream !== true)
      return Response.json({ ...HEAD, object: 'chat.completion', choices: [WHOLE], usage: USAGE });
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void senders.push(controller) });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});
const HEAD = { id: 'c1', created: 1, model: 'big' };
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const WHOLE = { index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' };

let gateway: RunningGateway;
beforeAll(async () => {
  const base_url = `http://127.0.0.1:${upstream.port}/v1`;
  const lab = { kind: 'openai-compatible', base_url, api_key: 'none' };
  const models = { m: { targets: [{ provider: 'lab', model: 'big' }], price: { input: 1, output: 1 } } };
  gateway = await startGateway({ config: { providers: { lab }, models } });
}, 60_000);
afterAll(async () => {
  gateway.signal('SIGCONT');
  await gateway.stop();
  await upstream.stop(true);
});

/** Sends the same event on every stream. */
function sendAll(event: object | '[DONE]'): void {
  const data = event === '[DONE]' ? event : JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...event });
  for (const sender of senders) sender.enqueue(encoder.encode(`data: ${data}\n\n`));
}

const delta = (content: string) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

function ask(stream: boolean): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'Good day.' }] }),
  });
}

/** The share of new requests that the gateway refuses. */
async function refusedShare(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^tollgate_overload_ratio (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/** The contents of a stream's deltas, and its last line. */
async function read(answer: Response): Promise<readonly string[]> {
  const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '));
  return lines.map((line) => {
    const data = line.slice('data: '.length);
    return data === '[DONE]' ? data : (JSON.parse(data).choices?.[0]?.delta?.content ?? '');
  });
}

test('a late event loop refuses new requests with 503, running streams stay complete, and it ends by itself', async () => {
  const opening = Array.from({ length: STREAMS }, () => ask(true));
  await eventually('the streams at the provider', () => (senders.length === STREAMS ? true : null));
  sendAll(delta('begin'));
  const streams = await Promise.all(opening);
  expect(streams.map(({ status }) => status)).toEqual(Array(STREAMS).fill(200));
  const texts = streams.map(read);
  expect(await refusedShare()).toBe(0);

  const refused: Response[] = [];
  const statuses = new Set<number>();
  let rounds = 0;
  for (; refused.length === 0 && rounds < ROUNDS_MAX; rounds += 1) {
    gateway.signal('SIGSTOP');
    await Bun.sleep(STOP_MS);
    // Both arrive while nothing runs there.
    sendAll(delta(`${rounds} `));
    const asked = Array.from({ length: ASKED_PER_ROUND }, () => ask(false));
    gateway.signal('SIGCONT');
    // Not longer than the answers take: a timer that fires in time resets the measurement.
    const answers = await Promise.all(asked);
    for (const answer of answers) statuses.add(answer.status);
    refused.push(...answers.filter(({ status }) => status === 503));
    await Promise.all(answers.map((answer) => answer.text()));
  }
  const [first] = refused;
  expect(first?.headers.get('retry-after')).toBe('1');
  expect([...statuses].sort()).toEqual([200, 503]);
  // One late turn is not an overload: five in a row are.
  expect(rounds).toBeGreaterThanOrEqual(5);
  expect(gateway.stderr()).toContain('too much work');

  sendAll({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  sendAll({ choices: [], usage: USAGE });
  sendAll('[DONE]');
  for (const sender of senders) sender.close();
  const sent = Array.from({ length: rounds }, (_, round) => `${round} `);
  for (const text of await Promise.all(texts)) expect(text.filter(Boolean)).toEqual(['begin', ...sent, '[DONE]']);

  await eventually('the end of the overload', async () => ((await refusedShare()) === 0 ? true : null), 20_000);
  expect((await ask(false)).status).toBe(200);
  const records = await gateway.calls();
  const streamed = records.filter(({ stream }) => stream).map(({ status, error }) => [status, error]);
  expect(streamed).toEqual(Array(STREAMS).fill([200, null]));
  const turnedAway = records.filter(({ status }) => status === 503);
  expect(turnedAway.length).toBe(refused.length);
  expect(new Set(turnedAway.map(({ error, cost_nano_usd }) => `${error} ${cost_nano_usd}`))).toEqual(
    new Set(['over_capacity 0']),
  );
}, 120_000);
