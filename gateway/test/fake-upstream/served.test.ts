/** Shows that the book is the truth: what it says left is what arrived, and what it says arrived is what was sent. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { textOf } from './body-part.ts';
import { connectRaw, exchange, parseRawResponse } from './raw-client.ts';
import type { Chunking } from './scenario.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall, messagesCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

describe('the book', () => {
  test('keeps the request as it came: line, header lines, body bytes', async () => {
    const call = messagesCall('ok', { odd: 'é', stream: true });
    const { client } = await exchange(fake.port, call);
    client.leave();
    const [served] = await fake.waitFor((one) => one.finished === 'complete');
    if (served === undefined) throw new Error('not booked');
    const sent = Buffer.from(call).toString('latin1');
    const head = [served.requestLine, ...served.headLines].join('\r\n');
    expect(`${head}\r\n\r\n${Buffer.from(served.requestBody).toString('latin1')}`).toBe(sent);
    expect([served.model, served.endpoint, served.stream, served.status]).toEqual(['ok', 'messages', true, 200]);
  });

  test('counts body bytes and events as the client received them, whatever the chunking, framing and cut', async () => {
    const chunking = fc.oneof(
      fc.constantFrom<Chunking>('record', 'bytes', 'all', 'utf8'),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 3 }).map((sizes): Chunking => ({ sizes })),
    );
    const framing = fc.constantFrom('chunked' as const, 'content-length' as const, 'close' as const);
    const how = fc.constantFrom('fin' as const, 'rst' as const);
    await fc.assert(
      fc.asyncProperty(chunking, framing, how, fc.integer({ min: 0, max: 2_500 }), async (divided, framed, end, at) => {
        fake.reset();
        const answer = 'fixture:stream-tool-parallel';
        fake.script('m', { answer, chunking: divided, framing: framed, cut: { at, how: end } });
        const client = await connectRaw(fake.port);
        client.send(messagesCall('m', { stream: true }));
        const ended = await client.untilEnd();
        const body = parseRawResponse(client.received(), ended)?.body ?? Buffer.alloc(0);
        const [call] = await fake.waitFor((one) => one.finished === 'cut');
        expect(call?.bytesSent).toBe(body.byteLength);
        expect(call?.eventsSent).toBe(textOf(body).split('\n\n').length - 1);
      }),
      { numRuns: 60 },
    );
  });

  test('has the usage that left: merged over the events of a message, none before it was sent', async () => {
    const { client } = await exchange(fake.port, messagesCall('fixture:stream-thinking', { stream: true }));
    client.leave();
    const [whole] = await fake.waitFor((one) => one.finished === 'complete');
    expect(whole?.usage).toMatchObject({ input_tokens: 41, output_tokens: 37 });
    fake.reset();
    fake.script('m', { answer: 'fixture:stream-text', cut: { at: 1_000, how: 'fin' } });
    await exchange(fake.port, messagesCall('m', { stream: true }));
    const [cut] = await fake.waitFor((one) => one.finished === 'cut');
    expect(cut?.usage).toMatchObject({ input_tokens: 22, output_tokens: 1 });
    fake.reset();
    fake.script('m', { answer: 'fixture:stream-text', stallAfterEvent: 3 });
    const chat = await connectRaw(fake.port);
    chat.send(chatCall('m', { stream: true }));
    const [stalled] = await fake.waitFor((one) => one.finished === 'stalled');
    expect(stalled?.usage).toBeNull();
    chat.leave();
  });

  test('a script of several scenarios is used up one call at a time, and its last one stays', async () => {
    fake.script('m', [{ status: 503 }, { status: 429 }, {}]);
    const statuses: (number | undefined)[] = [];
    for (let call = 0; call < 4; call += 1) {
      const { response, client } = await exchange(fake.port, chatCall('m'));
      statuses.push(response?.status);
      client.leave();
    }
    expect(statuses).toEqual([503, 429, 200, 200]);
    expect(fake.served('m').map((call) => call.status)).toEqual([503, 429, 200, 200]);
    expect(fake.served('other')).toEqual([]);
  });

  test('waiting in vain says what was there instead', async () => {
    const { client } = await exchange(fake.port, chatCall('ok'));
    client.leave();
    const wait = fake.waitFor((call) => call.model === 'never', { timeoutMs: 10 });
    expect(wait).rejects.toThrow(/10 ms.*1 calls: ok chat-completions complete/);
  });

  test('a full book drops the oldest calls and counts them', async () => {
    const small = await startFakeUpstream({ keepCallsMax: 5 });
    const client = await connectRaw(small.port);
    client.send(Buffer.concat(Array.from({ length: 12 }, () => chatCall('ok'))));
    await small.waitFor((call) => call.number === 12 && call.finished === 'complete');
    expect([small.served().length + small.dropped(), small.dropped() > 0]).toEqual([12, true]);
    client.leave();
    await small.stop();
  });

  test('a bad script is refused with the member at fault', () => {
    const refused = (scenario: unknown): string => {
      try {
        fake.script('m', JSON.parse(JSON.stringify(scenario)));
      } catch (error) {
        return String(error);
      }
      return 'taken';
    };
    expect(refused({ cut: { at: -1, how: 'fin' } })).toContain('scenario.cut is {"at":-1,"how":"fin"}, expected');
    expect(refused({ chunking: { sizes: [] } })).toContain('scenario.chunking');
    expect(refused({ chunkng: 'all' })).toContain('scenario.chunkng is not known');
    expect(refused({ body: '', json: 1 })).toContain('body and json');
    expect(refused([])).toContain('empty array');
    expect(refused({ stallAfterEvent: 1.5 })).toContain('1.5, expected an integer');
  });
});
