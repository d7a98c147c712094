/** Tests that each bare proxy does what its name says and no more. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { CALL_PATH, renderQuestion } from '../protocol.ts';
import { startUpstream, type Upstream } from '../upstream/start-upstream.ts';
import { bare, bareKeyed } from './bare.ts';
import type { RunningSubject } from './subject.ts';

describe.each([
  ['bare', bare, 200],
  ['bare-keyed', bareKeyed, 401],
] as const)('%s', (_, subject, withoutKey) => {
  let upstream: Upstream;
  let running: RunningSubject;
  beforeAll(async () => {
    upstream = startUpstream(0);
    running = await subject.start({ upstreamPort: upstream.port, scratchDir: '', tollgateCommand: '' });
  });
  afterAll(async () => {
    await running.group.stop();
    upstream.stop();
  });

  function call(port: number, stream: boolean, headers: Readonly<Record<string, string>>): Promise<Response> {
    const body = renderQuestion('chat', 'bench', stream);
    return fetch(`http://127.0.0.1:${port}${CALL_PATH.chat}`, { method: 'POST', headers, body });
  }

  test.each([false, true])('passes on what upstream answers (stream: %p)', async (stream) => {
    const own = await call(upstream.port, stream, {});
    const passed = await call(running.port, stream, running.headers);
    expect([passed.status, passed.headers.get('content-type')]).toEqual([200, own.headers.get('content-type')]);
    expect(await passed.text()).toBe(await own.text());
  });

  test(`answers a call without a key with ${withoutKey}`, async () => {
    expect((await call(running.port, false, {})).status).toBe(withoutKey);
    expect((await call(running.port, false, { authorization: 'Bearer another' })).status).toBe(withoutKey);
  });
});
