/** Replays recorded uploads, reads and deletions of files: forms of many libraries, and answers as they came. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import type { Recording } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type ObjectUpstream, startObjectUpstream } from './object-upstream.ts';

const recordings = loadRecordings({ api: 'openai-files' }) ?? [];

let upstream: ObjectUpstream;
let gateway: RunningGateway;

beforeAll(async () => {
  if (recordings.length === 0) return;
  upstream = startObjectUpstream();
  gateway = await startGateway({
    config: {
      providers: { host: { kind: 'openai', base_url: upstream.url, api_key: 'credential-host', files: 'on' } },
      models: { m: { targets: [{ provider: 'host' }], price: { input: 1, output: 5 } } },
    },
  });
}, 60_000);
afterAll(async () => {
  if (recordings.length === 0) return;
  await gateway.stop();
  upstream.stop();
});

const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body));

/** The form as its library wrote it. The end of a long one was not recorded. */
function formOf({ request }: Recording): { readonly type: string; readonly body: Buffer } {
  const { headers = {}, body = '', ...others } = request ?? {};
  const encoding = 'body_encoding' in others ? others.body_encoding : null;
  const bytes = Buffer.from(String(body), encoding === 'multipart-base64' ? 'base64' : 'utf8');
  const type = headers['content-type'] ?? '';
  const end = `--${type.split('boundary=')[1]}--`;
  return { type, body: bytes.includes(end) ? bytes : Buffer.concat([bytes, Buffer.from(`\r\n${end}\r\n`)]) };
}

async function ask(method: string, path: string, answer: unknown, form?: ReturnType<typeof formOf>) {
  upstream.failWith = { status: 200, body: textOf(answer) };
  const reply = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, ...(form && { 'content-type': form.type }) },
    ...(form && { body: form.body }),
  });
  return { status: reply.status, text: await reply.text() };
}

const uploads = recordings.filter(({ request }) => request?.method === 'POST' && request.path === '/v1/files');
const others = recordings.filter(({ request }) => request !== null && request.method !== 'POST');

describe.skipIf(recordings.length === 0)('recorded files (needs the recordings)', () => {
  // The lines of files for batches are checked.
  const whole = uploads.filter((one) => !formOf(one).body.includes('name="purpose"\r\n\r\nbatch'));
  test('are uploads and other requests', () => {
    expect([whole.length > 0, others.length > 0]).toEqual([true, true]);
  });

  test.each(whole.map((one) => [one.id, one] as const))('the upload %s arrives as it was sent', async (_, one) => {
    const form = formOf(one);
    const answer = await ask('POST', '/v1/files', one.response.body, form);
    expect(answer).toEqual({ status: 200, text: textOf(one.response.body) });
    const digest = createHash('sha256').update(form.body).digest('hex');
    expect(upstream.served.at(-1)?.body).toBe(`${digest} ${form.body.length}`);
  });

  test.each(others.map((one) => [one.id, one] as const))(
    '%s gets the answer as it came',
    async (_, { request, response }) => {
      const [, id = ''] = /\/files\/([^/]+)/.exec(request?.path ?? '') ?? [];
      const form = uploads.map(formOf)[0];
      expect((await ask('POST', '/v1/files', { id, object: 'file' }, form)).status).toBe(200);
      const answer = await ask(request?.method ?? '', request?.path ?? '', response.body);
      expect(answer).toEqual({ status: 200, text: textOf(response.body) });
    },
  );
});
