/** Tests the waits between the tries of an export: their end at a shutdown, and that they leave nothing behind. */
import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { OtlpSender, type PostBytes } from './otlp-sender.ts';

function openSender(post: PostBytes, timeoutMs: number): OtlpSender {
  const destination = { url: 'http://collector.example/v1/traces', headers: [] };
  return new OtlpSender({ format: 'json', gzip: false, timeoutMs, destination, post, onChange() {}, onTaken() {} });
}

const BODY = new Uint8Array(3);

test('waits leave nothing in memory, however long the collector is away', async () => {
  let tries = 0;
  const sender = openSender(
    async () => ({ status: tries++ % 300 === 299 ? 200 : 503, retryAfterMs: 0, body: BODY }),
    60_000,
  );
  const countPromises = () => {
    Bun.gc(true);
    return heapStats().objectTypeCounts.Promise ?? 0;
  };
  expect(await sender.send(BODY)).toBe(true);
  const before = countPromises();
  expect(await sender.send(BODY)).toBe(true);
  expect(tries).toBe(600);
  expect(countPromises() - before).toBeLessThan(100);
});

test('a shutdown ends the wait, and there is no other try', async () => {
  let tries = 0;
  const tried = Promise.withResolvers<void>();
  const sender = openSender(async () => {
    tries += 1;
    tried.resolve();
    return { status: 503, retryAfterMs: 50_000, body: BODY };
  }, 60_000);
  const sent = sender.send(BODY);
  await tried.promise;
  sender.hurry();
  expect(await sent).toBe(false);
  expect(await sender.send(BODY)).toBe(false);
  expect(tries).toBe(2);
});
