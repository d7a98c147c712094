/**
 * Tests batches (contract, 10.12 and 10.13): one hold and one settlement for all requests, whatever ends the batch, also over
 * a kill of the process; the output only after it; and no batch of another workspace.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, ask } from '../harness/ask.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type BatchUpstream, startBatchUpstream } from './batch-upstream.ts';
import { control, createKey } from './make-key.ts';
import { createTenantKeys, type TenantKeys } from './tenants.ts';

let upstream: BatchUpstream;
let gateway: RunningGateway;
let keys: Record<keyof TenantKeys | 'limited', string>;

/** USD per million tokens: nano-dollars are thousandths of these numbers. */
const PRICE = { input: 2, output: 8, modifiers: { service_tier: { batch: 0.5 } } };

function configFor(url: string) {
  const base = { base_url: url, timeouts: { total: '10s' } };
  const keyed = (name: string) => ({ ...base, api_key: `credential-${name}` });
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  return {
    providers: {
      host: { kind: 'openai', ...keyed('host'), files: 'on' },
      claude: { kind: 'anthropic', ...keyed('claude'), files: 'on' },
      closed: { kind: 'openai', ...keyed('closed') },
    },
    models: {
      small: target('host', 'gpt-small'),
      large: { ...target('host', 'gpt-large'), price: { ...PRICE, input: 4, output: 16 } },
      haiku: target('claude', 'claude-haiku'),
      shut: target('closed', 'gpt-shut'),
    },
  };
}

beforeAll(async () => {
  upstream = startBatchUpstream();
  gateway = await startGateway({ config: configFor(upstream.url) });
  const limited = await createKey(gateway, { models: ['small', 'haiku'] });
  keys = { ...(await createTenantKeys(gateway)), limited: limited.key };
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const send = (method: string, path: string, key = keys.own, body?: object | FormData): Promise<Answer> =>
  ask(`${gateway.url}/v1/${path}`, { method, key, body });

const lineOf = (custom_id: string, model = 'gpt-small', members: object = {}) => ({
  ...{ custom_id, method: 'POST', url: '/v1/chat/completions' },
  body: { model, max_tokens: 100, messages: [{ role: 'user', content: 'two and two' }], ...members },
});

async function upload(lines: readonly object[], key = keys.own): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new File([lines.map((line) => JSON.stringify(line)).join('\n')], 'in.jsonl'));
  const { status, json, text } = await send('POST', 'files', key, form);
  expect([status, text]).toEqual([200, expect.anything()]);
  return json.id;
}

const createOf = (input_file_id: string, key = keys.own) =>
  send('POST', 'batches', key, { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' });

const createInline = (requests: readonly object[], key = keys.own) =>
  send('POST', 'messages/batches', key, { requests });

const say = (custom_id: string, model = 'claude-haiku') => ({
  custom_id,
  params: { model, max_tokens: 50, messages: [{ role: 'user', content: 'two and two' }] },
});

async function begin(lines: readonly object[] = [lineOf('a'), lineOf('b')], key = keys.own): Promise<Answer> {
  const created = await createOf(await upload(lines, key), key);
  expect([created.status, created.text]).toEqual([200, expect.stringContaining('"validating"')]);
  return created;
}

const answerOf = (custom_id: string, prompt_tokens: number, completion_tokens: number, model = 'gpt-small') => ({
  custom_id,
  error: null,
  response: {
    status_code: 200,
    body: {
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, service_tier: 'default' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'four' }, finish_reason: 'stop' }],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    },
  },
});

const messageOf = (custom_id: string, input_tokens: number, output_tokens: number) => ({
  custom_id,
  result: {
    type: 'succeeded',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-haiku', stop_reason: 'end_turn' },
      content: [{ type: 'text', text: 'four' }],
      usage: { input_tokens, output_tokens, service_tier: 'batch' },
    },
  },
});

/** Asks for a batch that has ended until it is settled; resolves with its record. */
async function settled(
  { json, requestId }: Pick<Answer, 'json' | 'requestId'>,
  path = 'batches',
  from = gateway,
): Promise<CallLine> {
  const headers = { authorization: `Bearer ${keys.own}` };
  for (;;) {
    await (await fetch(`${from.url}/v1/${path}/${json.id}`, { headers })).text();
    const [record] = await from.calls('--request-id', requestId);
    if (record !== undefined) return record;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a batch from a file', () => {
  test('holds, runs, is settled once by its answers, and then gives its output', async () => {
    const created = await begin([lineOf('a'), lineOf('b', 'gpt-large')]);
    const { id } = created.json;
    expect((await send('GET', `batches/${id}`)).json).toMatchObject({ id, status: 'validating', output_file_id: null });
    expect((await send('GET', 'batches')).json.data[0].id).toBe(id);
    upstream.end(id, {
      status: 'completed',
      output: [answerOf('a', 10, 4), answerOf('b', 7, 5, 'gpt-large-2026-01-01')],
    });
    const record = await settled(created);
    expect(record).toMatchObject({
      ...{ protocol: 'batches', model: 'small', provider: 'host', status: 200, error: null },
      ...{ finish_reason: 'completed', usage_source: 'upstream', cost_nano_usd: '80000' },
      usage: { input: 17, output: 9 },
    });
    const after = await send('GET', `batches/${id}`);
    expect(after.json.status).toBe('completed');
    upstream.refusesCancel = true;
    const late = await send('POST', `batches/${id}/cancel`);
    upstream.refusesCancel = false;
    expect([late.status, late.json.error.message]).toEqual([409, "Cannot cancel a batch with status 'completed'."]);
    const output = await send('GET', `files/${after.json.output_file_id}/content`);
    expect(output.text.trim().split('\n')).toHaveLength(2);
    expect((await send('GET', 'batches')).json.data[0].status).toBe('completed');
  });

  test('belongs to the end user that all its requests name, and their limits apply', async () => {
    const of = (user: string, id: string) => lineOf(id, 'gpt-small', { user });
    for (const [lines, end_user] of [
      [[of('ann', 'a'), of('ann', 'b')], 'ann'],
      [[of('ann', 'a'), of('bob', 'b'), of('ann', 'c')], null],
    ] as const) {
      const created = await begin(lines);
      upstream.end(created.json.id, { status: 'completed', output: [answerOf('a', 10, 4)] });
      expect(await settled(created)).toMatchObject({ end_user });
    }
    const words = ['limits', 'set', '--end-user', 'ann', '--budget-usd', '0.0001', '--budget-window', 'total'];
    expect((await gateway.run(...words)).status).toBe(0);
    const refused = await createOf(await upload([of('ann', 'a'), of('ann', 'b')]));
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining('the budget of this end user')]);
  });

  test('gives no output before it is settled', async () => {
    const created = await begin();
    const { id } = created.json;
    // First without an output, then with one that lacks answers.
    upstream.end(id, { status: 'completed', members: { request_counts: undefined } });
    expect((await send('POST', `batches/${id}/cancel`)).json.status).toBe('validating');
    expect((await send('GET', `batches/${id}`)).json.status).toBe('validating');
    upstream.end(id, {
      status: 'completed',
      output: [answerOf('a', 1, 1)],
      members: { request_counts: { completed: 9 } },
    });
    await send('POST', `batches/${id}/cancel`);
    const shown = await send('GET', `batches/${id}`);
    expect(shown.json).toMatchObject({ status: 'validating', output_file_id: null });
    const seen = upstream.served.filter((one) => one.startsWith('GET /v1/files/file-out-')).at(-1);
    const file = /file-out-\d+/.exec(seen ?? '')?.[0] ?? 'file-out-1';
    expect((await send('GET', `files/${file}/content`)).status).toBe(404);
    upstream.end(id, { status: 'completed', output: [answerOf('a', 1, 1)] });
    expect((await settled(created)).cost_nano_usd).toBe('5000');
  });

  test.each(['expired', 'cancelled'] as const)('that is %s is charged for what was done', async (status) => {
    const created = await begin();
    const late = { custom_id: 'b', response: null, error: { code: 'batch_expired', message: 'late' } };
    upstream.end(created.json.id, { status, output: [answerOf('a', 100, 10)], errors: [late] });
    expect(await settled(created)).toMatchObject({ finish_reason: status, error: null, cost_nano_usd: '140000' });
  });

  test('that failed validation at the provider releases its hold', async () => {
    const created = await begin();
    const errors = { data: [{ code: 'x', message: 'line 1 is wrong' }] };
    upstream.end(created.json.id, { status: 'failed', members: { errors } });
    expect(await settled(created)).toMatchObject({
      ...{ finish_reason: 'failed', error: 'upstream_rejected', cost_nano_usd: '0', usage_source: 'void' },
      reason: { upstream: { message: 'line 1 is wrong' } },
    });
  });

  test('that the provider refuses has its words and costs nothing', async () => {
    const input = await upload([lineOf('a')]);
    upstream.refuseNext = 400;
    const refused = await createOf(input);
    expect([refused.status, refused.json.error.message]).toEqual([400, 'no batch for you']);
    const [record] = await gateway.calls('--request-id', refused.requestId);
    expect(record).toMatchObject({ protocol: 'batches', status: 400, error: 'upstream_rejected', cost_nano_usd: '0' });
  });

  test('that the provider does not know for a while is charged by its answers all the same', async () => {
    const created = await begin([lineOf('a')]);
    const { id } = created.json;
    const show = upstream.hide(id);
    const polls = () => upstream.served.filter((one) => one.startsWith(`GET /v1/batches/${id}`)).length;
    while (polls() < 2) expect((await send('GET', `batches/${id}`)).json.status).toBe('validating');
    expect(await gateway.calls('--request-id', created.requestId)).toEqual([]);
    show();
    upstream.end(id, { status: 'completed', output: [answerOf('a', 1, 1)] });
    expect(await settled(created)).toMatchObject({ cost_nano_usd: '5000', usage_source: 'upstream' });
  });

  test('vector 18: with a forbidden model in line 3 is refused, naming the line', async () => {
    const lines = [lineOf('a'), lineOf('b'), lineOf('c', 'gpt-large')];
    const { status, json, requestId } = await createOf(await upload(lines, keys.limited), keys.limited);
    expect(status).toBe(400);
    expect(json.error.message).toStartWith('line 3 (custom_id "c"): the model "gpt-large" cannot be used');
    const [record] = await gateway.calls('--request-id', requestId);
    expect(record).toMatchObject({ protocol: 'batches', status: 400, cost_nano_usd: '0' });
  });

  test('names no more than its requests: a host could read another model or tier', async () => {
    const input_file_id = await upload([lineOf('a')]);
    const body = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h', model_id: 'gpt-large' };
    const { status, json } = await send('POST', 'batches', keys.own, body);
    expect([status, json.error.message]).toEqual([400, 'model_id: a batch does not take it; leave it out']);
    const inline = await send('POST', 'messages/batches', keys.own, { requests: [say('a')], model: 'claude-haiku' });
    expect([inline.status, inline.json.error.message]).toEqual([400, 'model: a batch does not take it; leave it out']);
  });

  test('has a day: another window has another price, or lasts longer than its hold', async () => {
    const body = {
      input_file_id: await upload([lineOf('a')]),
      endpoint: '/v1/chat/completions',
      completion_window: '7d',
    };
    const { status, json } = await send('POST', 'batches', keys.own, body);
    expect([status, json.error.message]).toEqual([400, 'completion_window: found "7d"; expected "24h"']);
  });

  test('that is refused takes its part of the requests per minute', async () => {
    const { key } = await createKey(gateway, { rpm: 1 });
    const input = await upload([lineOf('a', 'unknown')]);
    expect((await createOf(input, key)).status).toBe(400);
    const reads = () => upstream.served.filter((one) => one.startsWith(`GET /v1/files/${input}/content`)).length;
    expect([(await createOf(input, key)).status, reads()]).toEqual([429, 1]);
  });

  test('is created too where the provider answers 201', async () => {
    const input = await upload([lineOf('a')]);
    upstream.createdStatus = 201;
    const created = await createOf(input);
    upstream.createdStatus = 200;
    expect([created.status, created.json.status]).toEqual([200, 'validating']);
    upstream.end(created.json.id, { status: 'completed', output: [answerOf('a', 1, 1)] });
    expect((await settled(created)).cost_nano_usd).toBe('5000');
  });

  test('needs a balance for all of its requests', async () => {
    await control(gateway, 'accounts.create', { id: 'poor', mode: 'prepaid' });
    await control(gateway, 'workspaces.create', { id: 'poor-main', account: 'poor' });
    const { key } = await createKey(gateway, { workspace: 'poor-main' });
    // A host that is not known to honor limits may answer with 131,072 tokens, which cost 0.52 USD.
    expect((await gateway.run('topup', 'poor', '--usd', '1')).status).toBe(0);
    const lines = (most: number) => Array.from({ length: most }, (_, at) => lineOf(`r${at}`));
    const refused = await createOf(await upload(lines(3), key), key);
    expect([refused.status, refused.json.error.code]).toEqual([429, 'insufficient_quota']);
    expect((await begin(lines(1), key)).status).toBe(200);
  });
});

describe('a batch from a body', () => {
  test('is settled by its results, which are served here, and deleted', async () => {
    const created = await createInline([say('a'), say('b')]);
    expect([created.status, created.json.results_url]).toEqual([200, null]);
    const { id } = created.json;
    expect((await send('GET', `messages/batches/${id}/results`)).status).toBe(400);
    expect((await send('DELETE', `messages/batches/${id}`)).status).toBe(400);
    upstream.end(id, { status: 'ended', output: [messageOf('a', 20, 3), messageOf('b', 5, 1)] });
    expect(await settled(created, 'messages/batches')).toMatchObject({
      ...{ protocol: 'batches', model: 'haiku', finish_reason: 'ended', cost_nano_usd: '41000' },
      usage: { input: 25, output: 4 },
    });
    const shown = await send('GET', `messages/batches/${id}`);
    expect(shown.json.results_url).toBe(`${gateway.url}/v1/messages/batches/${id}/results`);
    expect((await send('GET', 'messages/batches')).json.data[0].results_url).toBe(shown.json.results_url);
    const results = await send('GET', `messages/batches/${id}/results`);
    expect(results.text).toBe(
      [messageOf('a', 20, 3), messageOf('b', 5, 1)].map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
    expect((await send('DELETE', `messages/batches/${id}`)).status).toBe(200);
    expect((await send('GET', `messages/batches/${id}`)).status).toBe(404);
  });

  test('names its wrong request', async () => {
    const { status, json } = await createInline([say('a'), say('b', 'claude-other')]);
    expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
    expect(json.error.message).toContain('requests.1 (custom_id "b"): the model "claude-other" is not served here');
  });
});

describe('a batch of another workspace', () => {
  test('cannot be read, used, cancelled, deleted or listed, before and after its end', async () => {
    const mine = await begin();
    const inline = await createInline([say('a')]);
    const output = async () => (await send('GET', `batches/${mine.json.id}`)).json.output_file_id ?? 'file-out-none';
    const look = async (key: string) => {
      const paths = [
        ['GET', `batches/${mine.json.id}`],
        ['POST', `batches/${mine.json.id}/cancel`],
        ['GET', `files/${await output()}/content`],
        ['GET', `messages/batches/${inline.json.id}`],
        ['GET', `messages/batches/${inline.json.id}/results`],
        ['POST', `messages/batches/${inline.json.id}/cancel`],
        ['DELETE', `messages/batches/${inline.json.id}`],
        ['GET', 'batches/batch_unknown'],
      ] as const;
      const found = await Promise.all(paths.map(([method, path]) => send(method, path, key)));
      expect(found.map(({ status }) => status)).toEqual(paths.map(() => 404));
      expect((await send('GET', 'batches', key)).json.data).toEqual([]);
      expect((await send('GET', 'messages/batches', key)).json.data).toEqual([]);
      const stolen = await createOf(await upload([lineOf('a')]), key);
      expect(stolen.status).toBe(404);
    };
    for (const key of [keys.workspace, keys.account]) await look(key);
    upstream.end(mine.json.id, { status: 'completed', output: [answerOf('a', 1, 1)] });
    upstream.end(inline.json.id, { status: 'ended', output: [messageOf('a', 1, 1)] });
    await Promise.all([settled(mine), settled(inline, 'messages/batches')]);
    for (const key of [keys.workspace, keys.account]) await look(key);
  });
});

test('a provider without files has no batches', async () => {
  const other = startBatchUpstream();
  const { providers, models } = configFor(other.url) as {
    providers: Record<string, object>;
    models: Record<string, object>;
  };
  const { files: _, ...host } = providers.host as { files: string };
  const closed = await startGateway({ config: { providers: { host }, models: { small: models.small } } });
  try {
    for (const path of ['batches', 'messages/batches']) {
      const answer = await fetch(`${closed.url}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${closed.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ input_file_id: 'file-1', endpoint: '/v1/chat/completions', requests: [say('a')] }),
      });
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect(other.served).toEqual([]);
  } finally {
    await closed.stop();
    other.stop();
  }
});

describe('a batch that runs while the process', () => {
  test.each(['is killed', 'is replaced'] as const)(
    '%s is settled once, by its answers',
    async (end) => {
      const config = configFor(upstream.url);
      const first = await startGateway({ config });
      const [running, own] = [gateway, keys.own];
      [gateway, keys.own] = [first, first.key];
      try {
        const created = await begin();
        if (end === 'is killed') first.signal('SIGKILL');
        else await first.stop(true);
        await first.exited;
        upstream.end(created.json.id, { status: 'completed', output: [answerOf('a', 10, 4), answerOf('b', 1, 1)] });
        // The next version takes no new batches.
        if (end === 'is replaced') Object.assign(config.providers.host, { files: 'off' });
        const second = await startGateway({ config, dataDir: first.dataDir });
        gateway = second;
        expect(await settled(created, 'batches', second)).toMatchObject({
          ...{ protocol: 'batches', cost_nano_usd: '31000', finish_reason: 'completed' },
        });
        expect(await second.calls('--request-id', created.requestId)).toHaveLength(1);
        if (end === 'is killed') {
          expect((await send('GET', `batches/${created.json.id}`)).json.status).toBe('completed');
        }
        const verified = await second.run('verify');
        expect([verified.status, verified.stderr]).toEqual([0, '']);
        await second.stop();
      } finally {
        [gateway, keys.own] = [running, own];
        await first.stop();
      }
    },
    60_000,
  );
});

test('the ledger proves all of them', async () => {
  const { status, stderr } = await gateway.run('verify');
  expect([status, stderr]).toEqual([0, '']);
});
