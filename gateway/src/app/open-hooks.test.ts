/** Tests how much of an answer the hooks of rules wait for. */
import { expect, test } from 'bun:test';
import { reachHooks } from './open-hooks.ts';

test('the receiver of an alert confirms it by its status, also with a large answer or one that goes on', async () => {
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      new Response(
        url.endsWith('/large')
          ? 'x'.repeat(2 * 1024 * 1024)
          : new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(9)) }),
      ),
  });
  const origin = `http://127.0.0.1:${receiver.port}`;
  const deps = () => ({ settings: { config: { server: { privateOrigins: [origin] } } } }) as never;
  const rule = { id: 'one', account: 'default', receiver: origin, sealed: null };
  const ask = (owner: 'alert rule' | 'guardrail rule', path: string) =>
    reachHooks(owner, undefined as never, deps).fetchFor(rule)(`${origin}${path}`, { method: 'POST', body: '{}' });
  for (const path of ['/large', '/endless']) expect((await ask('alert rule', path)).status).toBe(200);
  await expect(ask('guardrail rule', '/large')).rejects.toThrow('larger than');
  await receiver.stop(true);
});
