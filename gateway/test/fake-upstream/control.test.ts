/** Shows that another process can script the rig and read its book: `main.ts` spawned, spoken to over HTTP only. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';

let url = '';
let rig: Bun.Subprocess<'pipe', 'pipe', 'inherit'>;

beforeAll(async () => {
  rig = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), '--port', '0', '--until-stdin-ends'], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { value } = await rig.stdout.getReader().read();
  const port = /^listening ([0-9]+)\n$/.exec(new TextDecoder().decode(value))?.[1];
  url = `http://127.0.0.1:${port}`;
});

afterAll(async () => {
  rig.kill('SIGTERM');
  expect(await rig.exited).toBe(0);
});

async function control(route: string, body?: unknown): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(
    `${url}/__fake/${route}`,
    body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
  );
  const json: Record<string, unknown> = JSON.parse(await response.text());
  return { status: response.status, json };
}

async function call(model: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }),
  });
}

test('a rig told so ends with the process that started it', async () => {
  const other = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), '--until-stdin-ends'], {
    stdin: 'pipe',
    stdout: 'pipe',
  });
  await other.stdout.getReader().read();
  other.stdin.end();
  expect(await other.exited).toBe(0);
});

describe('over HTTP', () => {
  test('a script is set, followed, read back in the book, and forgotten at a reset', async () => {
    expect(await control('scripts', { model: 'm', scenario: [{ status: 503 }, { json: { a: 1 } }] })).toEqual({
      status: 200,
      json: { scripted: 'm' },
    });
    expect((await call('m')).status).toBe(503);
    expect(await (await call('m')).text()).toBe('{"a":1}');
    const waiting = control('wait?model=m&finished=complete&count=3');
    await (await call('m')).text();
    expect(await waiting).toEqual({ status: 200, json: { reached: true, found: 3 } });
    const { json } = await control('served?model=m');
    expect(json).toMatchObject({
      dropped: 0,
      calls: [{ status: 503 }, { status: 200, bytesSent: 7 }, { status: 200 }],
    });
    expect(JSON.stringify(json)).toContain(Buffer.from('{"model":"m"').toString('base64').slice(0, 14));
    await control('reset', {});
    expect((await call('m')).status).toBe(404);
  });

  test('a bad script, a bad route and waiting in vain are told plainly', async () => {
    const bad = await control('scripts', { model: 'm', scenario: { framing: 'none' } });
    expect([bad.status, bad.json.error]).toEqual([
      400,
      'scenario.framing is "none", expected one of chunked, content-length, close',
    ]);
    expect((await control('scripts', { scenario: {} })).status).toBe(400);
    expect((await control('reading', { bytes: 0, pauseMs: 1 })).json.error).toContain('reading.bytes is 0');
    expect((await control('nothing')).status).toBe(404);
    expect((await control('wait?model=never&timeout_ms=5')).status).toBe(408);
  });

  test('its own routes are not in the book', async () => {
    await control('reset', {});
    await control('health');
    expect((await control('served')).json.calls).toEqual([]);
  });
});
