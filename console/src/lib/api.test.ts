/** Tests that every way in which a request can fail is an error with words for the user. */
import { afterEach, expect, spyOn, test } from 'bun:test';
import { ApiError, ask } from './api.ts';

const fetching = spyOn(globalThis, 'fetch');
afterEach(() => fetching.mockReset());

function replyWith(body: BodyInit): void {
  fetching.mockImplementation(Object.assign(async () => new Response(body), { preconnect: () => undefined }));
}

/** The beginning of a reply, whose connection then breaks. */
const cutOff = () =>
  new ReadableStream({
    start: (reply) => reply.enqueue(new TextEncoder().encode('{"key":')),
    pull: (reply) => reply.error(new TypeError('network error')),
  });

const failure = (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: unknown) => error);

test('a reply that is cut off is an error of the API that names its risk for a change', async () => {
  replyWith(cutOff());
  const read = await failure(ask('GET /session', {}));
  expect(read).toBeInstanceOf(ApiError);
  expect(read).toMatchObject({ status: 0, code: 'unreachable', faults: [] });
  replyWith(cutOff());
  const changed = await failure(ask('POST /sign-out', {}));
  expect(changed).toBeInstanceOf(ApiError);
  expect(String(changed)).toContain('may have been saved');
});

test('a reply that never came is an error that names its risk for a change only', async () => {
  fetching.mockImplementation(
    Object.assign(() => Promise.reject(new TypeError('Failed to fetch')), { preconnect: () => undefined }),
  );
  expect(String(await failure(ask('GET /session', {})))).not.toContain('may have been saved');
  expect(String(await failure(ask('POST /sign-out', {})))).toContain('may have been saved');
});

test('a read that the page no longer needs stays cancelled', async () => {
  const leaving = new AbortController();
  replyWith(cutOff());
  leaving.abort();
  expect(await failure(ask('GET /session', {}, leaving.signal))).not.toBeInstanceOf(ApiError);
});
