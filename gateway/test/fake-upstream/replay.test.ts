/** Shows that every recording and every fixture is replayed to the byte, with its status and content type. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listFixtures, loadFixture } from './fixtures.ts';
import { headerOf } from './parse-request.ts';
import type { Protocol } from './protocol.ts';
import { connectRaw, parseRawResponse, type RawResponse } from './raw-client.ts';
import { type Recording, recordingBytes, recordingHeaders } from './recording.ts';
import { loadRecordings, recordingSets } from './recordings.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall, messagesCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

/** Sends the calls one after another on one connection and takes the responses apart. */
async function replay(calls: readonly Uint8Array[]): Promise<RawResponse[]> {
  const client = await connectRaw(fake.port);
  const responses: RawResponse[] = [];
  let taken = 0;
  for (const call of calls) {
    fake.reset();
    client.send(call);
    // The bytes are looked at once they are all out: parsing after each read of a long stream would take most of the time.
    await fake.waitFor((one) => one.finished === 'complete', { timeoutMs: 20_000 });
    const next = (): RawResponse | null => parseRawResponse(client.received().subarray(taken), client.ended());
    await client.until(() => next()?.whole === true);
    const response = next();
    if (response === null) throw new Error('no response');
    taken += response.taken;
    responses.push(response);
  }
  client.leave();
  return responses;
}

function expectReplay(recording: Recording, response: RawResponse): void {
  const { body } = recording.response;
  const expected = typeof body === 'string' ? body : JSON.stringify(body);
  const seen = {
    id: recording.id,
    status: response.status,
    type: headerOf(response, 'content-type'),
    same: response.body.equals(recordingBytes(recording)) && response.body.equals(Buffer.from(expected)),
  };
  const type = recordingHeaders(recording).find(([name]) => name === 'content-type')?.[1];
  expect(seen).toEqual({ id: recording.id, status: recording.response.status, type: type ?? null, same: true });
}

const inTens = <Item>(items: readonly Item[]): Item[][] =>
  Array.from({ length: Math.ceil(items.length / 10) }, (_, index) => items.slice(index * 10, index * 10 + 10));

for (const [api, call] of [
  ['openai-chat', chatCall],
  ['anthropic-messages', messagesCall],
] as const) {
  test.each(recordingSets(api))(
    `replays every ${api} exchange of $name to the byte`,
    async ({ recordings }) => {
      let replayed = 0;
      for (const some of inTens(recordings)) {
        const responses = await replay(
          some.map((recording) => call(`rec:${recording.id}`, { stream: recording.stream })),
        );
        for (const [index, recording] of some.entries()) {
          const response = responses[index];
          if (response === undefined) throw new Error(`no response for ${recording.id}`);
          expectReplay(recording, response);
          replayed += 1;
        }
      }
      expect(replayed).toBeGreaterThan(80);
    },
    30_000,
  );
}

describe('recordings', () => {
  test('an absent folder gives null and no exception', () => {
    expect(loadRecordings({ api: 'openai-chat', recordingsDir: '/nowhere/at/all' })).toBeNull();
  });

  test('an unknown id is a 404 that names it, and no way out of the folder', async () => {
    const [missing, outside] = await replay([chatCall('rec:openai-chat/99999'), chatCall('rec:../../etc/passwd')]);
    expect([missing?.status, outside?.status]).toEqual([404, 404]);
    expect(missing?.body.toString()).toContain('rec:openai-chat/99999');
  });
});

const fixtures = (['chat-completions', 'messages'] satisfies Protocol[]).flatMap((protocol) =>
  listFixtures(protocol).map((name) => [protocol, name] as const),
);
test.each(fixtures)('replays fixture %s %s to the byte', async (protocol, name) => {
  const fixture = loadFixture(protocol, name);
  if (fixture === null) throw new Error('not there');
  const call = protocol === 'messages' ? messagesCall : chatCall;
  const [response] = await replay([call(`fixture:${name}`, { stream: fixture.meta.stream })]);
  expect(response?.status).toBe(fixture.meta.status);
  expect(Buffer.compare(response?.body ?? Buffer.alloc(0), fixture.responseBytes)).toBe(0);
  for (const [header, value] of Object.entries(fixture.meta.headers ?? {})) {
    expect(response === undefined ? null : headerOf(response, header)).toBe(value);
  }
});
