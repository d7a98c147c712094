/**
 * Tests what providers keep under the operator's account (contract, 10.12): each state member × use and continue × the own
 * workspace, another workspace, another account. Reading, cancelling and deleting: stored-responses.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, ask } from '../harness/ask.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type StoredUpstream, startStoredUpstream } from './stored-upstream.ts';
import { createTenantKeys, type TenantKeys } from './tenants.ts';

let upstream: StoredUpstream;
let gateway: RunningGateway;
let keys: TenantKeys;

const SHARED = [
  { id: 'vs_open' },
  { id: 'file-team*', workspaces: ['team'] },
  { id: 'pmpt_open' },
  { id: 'connector_gmail' },
  { id: 'gs://open/*' },
];

function configFor(url: string): object {
  const base = { base_url: url, timeouts: { total: '10s' } };
  const price = { input: 1, output: 5 };
  const target = (provider: string, model = 'm') => ({ provider, model });
  return {
    providers: {
      host: {
        kind: 'openai',
        ...base,
        api_keys: [
          { name: 'eu', key: 'credential-eu' },
          { name: 'us', key: 'credential-us' },
        ],
        shared_state: SHARED,
      },
      other: { kind: 'openai', ...base, api_key: 'credential-other' },
      plain: { kind: 'openai-compatible', ...base, api_key: 'credential-plain' },
      claude: { kind: 'anthropic', ...base, api_key: 'credential-claude' },
    },
    models: {
      m: { targets: [target('host'), { ...target('other'), priority: 2 }], price },
      again: { targets: [target('host', 'again')], price },
      elsewhere: { targets: [target('other')], price },
      translated: { targets: [target('plain')], price },
      claude: { targets: [target('claude')], price },
    },
  };
}

beforeAll(async () => {
  upstream = startStoredUpstream();
  gateway = await startGateway({ config: configFor(upstream.url) });
  keys = await createTenantKeys(gateway);
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const post = (path: string, body: object, key = keys.own): Promise<Answer> =>
  ask(`${gateway.url}/v1/${path}`, { key, body });

const create = (members: object, key = keys.own, model = 'm') =>
  post('responses', { model, input: 'hi', ...members }, key);

/** What a first answer leaves: the ids, and the credential that answered. */
async function begin(
  members: object = {},
): Promise<{ response: string; item: string; container: string; credential: string }> {
  const { status, json, text } = await create(members);
  expect(status).toBe(200);
  const response = json ?? JSON.parse(text.split('data: ').at(-1) ?? '').response;
  const [message, ran] = response.output;
  const credential = upstream.served.at(-1)?.credential ?? '';
  return { response: response.id, item: message.id, container: ran.container_id, credential };
}

type Left = Awaited<ReturnType<typeof begin>>;

/** The ways to name what an answer left. */
const USES: ReadonlyArray<readonly [name: string, members: (left: Left) => object, param: string, status: number]> = [
  ['previous_response_id', ({ response }) => ({ previous_response_id: response }), 'previous_response_id', 400],
  ['item_reference', ({ item }) => ({ input: [{ type: 'item_reference', id: item }] }), 'input.0', 404],
  ['an item without a type', ({ item }) => ({ input: [{ id: item }] }), 'input.0', 404],
  ['container', ({ container }) => ({ tools: [{ type: 'code_interpreter', container }] }), 'tools.0.container', 404],
  [
    'container_id',
    ({ container }) => ({ input: [{ type: 'code_interpreter_call', id: 'ci', container_id: container }] }),
    'input.0.container_id',
    404,
  ],
  [
    'comparison_response_id',
    ({ response }) => ({ prompt_cache_options: { comparison_response_id: response } }),
    'prompt_cache_options.comparison_response_id',
    404,
  ],
];

describe.each(['plain', 'streamed'])('the state of a %s answer', (form) => {
  test.each(USES)('%s: only its workspace continues it, at the credential that keeps it', async (...row) => {
    const [, membersOf, param, status] = row;
    const left = await begin({ stream: form === 'streamed' });
    const unknown = membersOf({ response: 'resp_none', item: 'msg_none', container: 'cntr_none', credential: '' });
    for (const key of [keys.own, keys.colleague]) {
      expect((await create(membersOf(left), key)).status).toBe(200);
      expect(upstream.served.at(-1)).toMatchObject({ credential: left.credential, body: membersOf(left) });
    }
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      const foreign = await create(membersOf(left), key);
      const missing = await create(unknown, key);
      expect(foreign.status).toBe(status);
      expect(foreign.json.error.param).toBe(param);
      // Nothing tells that it exists.
      expect(foreign.json).toEqual(missing.json);
    }
    expect((await create(unknown)).json).toEqual((await create(unknown, keys.account)).json);
    expect(upstream.served).toHaveLength(before);
  });
});

describe('an earlier response', () => {
  // Vectors 17 and 18.
  test('that is unknown has the code on which Codex sends everything again', async () => {
    for (const model of ['m', 'translated']) {
      const { status, json } = await create({ previous_response_id: 'resp_none' }, keys.own, model);
      expect([status, json.error.code]).toEqual([400, 'previous_response_not_found']);
      expect(json.error.message).toContain('"store": false');
    }
  });

  test('may be continued by another model of the provider, and not elsewhere', async () => {
    const { response, credential } = await begin();
    expect((await create({ previous_response_id: response }, keys.own, 'again')).status).toBe(200);
    expect(upstream.served.at(-1)).toMatchObject({ credential, body: { model: 'again' } });
    const { status, json } = await create({ previous_response_id: response }, keys.own, 'elsewhere');
    expect([status, json.error.param]).toEqual([400, 'previous_response_id']);
    expect(json.error.message).toContain('does not lead to');
  });

  test('has no fallback: another credential and another provider do not know it', async () => {
    const { response, credential } = await begin();
    upstream.failWith = 429;
    const before = upstream.served.length;
    const { status } = await create({ previous_response_id: response });
    upstream.failWith = 200;
    expect(status).toBe(429);
    const tried = upstream.served.slice(before).map((one) => one.credential);
    expect(new Set(tried)).toEqual(new Set([credential]));
  });

  test('is paid again: its tokens are part of the estimate of the call that continues it', async () => {
    const { response } = await begin();
    await create({ previous_response_id: response });
    const [record] = await gateway.calls('--limit', '1');
    expect(record).toMatchObject({ status: 200, protocol: 'responses', usage: { input: 11, output: 3 } });
    expect(record?.usage_flags).toBeUndefined();
  });

  test('that the provider does not store belongs to no workspace', async () => {
    const { response } = await begin({ store: false });
    expect((await create({ previous_response_id: response })).status).toBe(400);
  });

  test('is found after a restart, also if the process is killed before its tables have the row', async () => {
    const { response } = await begin();
    gateway.signal('SIGKILL');
    await gateway.exited;
    const { dataDir } = gateway;
    gateway = await startGateway({ config: configFor(upstream.url), dataDir });
    expect((await create({ previous_response_id: response })).status).toBe(200);
    expect((await create({ previous_response_id: response }, keys.account)).status).toBe(400);
  }, 60_000);
});

describe('shared state of the operator', () => {
  const vectors = (id: string) => ({ tools: [{ type: 'file_search', vector_store_ids: [id] }] });
  const part = (one: object) => ({ input: [{ role: 'user', content: [one] }] });
  test.each([
    ['a vector store', vectors('vs_open'), [200, 200, 200]],
    ['not another', vectors('vs_open2'), [404, 404, 404]],
    ['files of one workspace', part({ type: 'input_file', file_id: 'file-team-7' }), [404, 200, 404]],
    ['a prompt', { prompt: { id: 'pmpt_open' } }, [200, 200, 200]],
    ['not another prompt', { prompt: { id: 'pmpt_other' } }, [404, 404, 404]],
    ['a connector', { tools: [{ type: 'mcp', connector_id: 'connector_gmail' }] }, [200, 200, 200]],
    ['a bucket', part({ type: 'input_image', image_url: 'gs://open/a.png' }), [200, 200, 200]],
    ['not another bucket', part({ type: 'input_image', image_url: 'gs://opened/a.png' }), [400, 400, 400]],
    ['not a conversation', { conversation: 'conv_1' }, [404, 404, 404]],
  ] as ReadonlyArray<[string, object, number[]]>)('%s', async (_name, members, statuses) => {
    const answers = [keys.own, keys.workspace, keys.account].map((key) => create(members, key));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(statuses);
  });
});

describe('in the other formats', () => {
  const say = (...content: object[]) => ({ messages: [{ role: 'user', content }], max_tokens: 5 });
  const CASES: ReadonlyArray<
    readonly [path: string, model: string, members: object, status: number, param: string | null]
  > = [
    [
      'chat/completions',
      'm',
      say({ type: 'file', file: { file_id: 'file-1' } }),
      404,
      'messages.0.content.0.file.file_id',
    ],
    [
      'chat/completions',
      'translated',
      say({ type: 'file', file: { file_id: 'file-1' } }),
      404,
      'messages.0.content.0.file.file_id',
    ],
    [
      'chat/completions',
      'm',
      say({ type: 'image_url', image_url: { url: 's3://a/b' } }),
      400,
      'messages.0.content.0.image_url.url',
    ],
    ['chat/completions', 'm', { ...say(), cached_content: 'cachedContents/1' }, 404, 'cached_content'],
    ['messages', 'claude', say({ type: 'document', source: { type: 'file', file_id: 'file_1' } }), 404, null],
    ['messages', 'claude', say({ type: 'container_upload', file_id: 'file_1' }), 404, null],
    ['messages', 'claude', { ...say({ type: 'text', text: 'a' }), container: 'container_1' }, 404, null],
    [
      'messages/count_tokens',
      'claude',
      say({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
      404,
      null,
    ],
  ];
  test.each(CASES)('%s of %s: %j', async (path, model, members, status, param) => {
    const before = upstream.served.length;
    const refused = await post(path, { model, ...members });
    expect([refused.status, refused.json.error.param ?? null]).toEqual([status, param]);
    expect(refused.text).not.toContain('unknown');
    expect(upstream.served).toHaveLength(before);
  });
});

test.each([false, true])(
  'a container and the files in it belong to the workspace of the answer (stream: %p)',
  async (stream) => {
    const say = { model: 'claude', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
    const { status, text } = await post('messages', { ...say, stream });
    expect(status).toBe(200);
    const container = /container_\d+/.exec(text)?.[0];
    const file_id = /file_\d+/.exec(text)?.[0];
    const uses = [
      { ...say, container },
      { ...say, container: { id: container } },
      { ...say, messages: [{ role: 'user', content: [{ type: 'container_upload', file_id }] }] },
    ];
    for (const body of uses) {
      expect((await post('messages', body, keys.colleague)).status).toBe(200);
      expect((await post('messages', body, keys.workspace)).status).toBe(404);
      expect((await post('messages', body, keys.account)).status).toBe(404);
    }
  },
);

describe('on a translated route', () => {
  // Vector 16.
  test('a reference to reasoning is dropped with a header, any other refused', async () => {
    const refused = await create({ input: [{ type: 'item_reference', id: 'msg_1' }] }, keys.own, 'translated');
    expect([refused.status, refused.json.error.param]).toEqual([400, 'input.0']);
    const input = [
      { role: 'user', content: 'a' },
      { type: 'item_reference', id: 'rs_1' },
      { role: 'user', content: 'b' },
    ];
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.own}` },
      body: JSON.stringify({ model: 'translated', input }),
    });
    await response.text();
    expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([200, 'input[].item_reference']);
    expect(upstream.served.at(-1)).toMatchObject({ path: '/v1/chat/completions', credential: 'credential-plain' });
  });
});

test('an id of the client that a compaction repeats makes nothing its own', async () => {
  const { item } = await begin();
  const input = [{ type: 'message', id: item, role: 'user', content: 'hi' }];
  const compacted = await post('responses/compact', { model: 'm', input }, keys.workspace);
  expect([compacted.status, compacted.json.output[0].id]).toEqual([200, item]);
  expect((await create({ input: [{ type: 'item_reference', id: item }] }, keys.workspace)).status).toBe(404);
});

describe.each([false, true])('the sound of a chat answer, streamed: %p', (stream) => {
  const speak = (members: object, key = keys.own) =>
    post('chat/completions', { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...members }, key);
  const turn = (id: string) => ({
    messages: [
      { role: 'assistant', audio: { id } },
      { role: 'user', content: 'go on' },
    ],
  });

  /** The id that the client got. */
  async function answered(voice: string): Promise<string> {
    const sound = { modalities: ['text', 'audio'], audio: { voice, format: 'wav' }, store: false, stream };
    const { status, text } = await speak(sound);
    expect(status).toBe(200);
    return /"id":"(audio_\d+)"/.exec(text)?.[1] ?? '';
  }

  test('is named by its workspace, and by no other', async () => {
    const id = await answered('alloy');
    expect([(await speak(turn(id))).status, (await speak(turn(id), keys.colleague)).status]).toEqual([200, 200]);
    expect(upstream.served.at(-1)?.body.messages).toEqual(turn(id).messages);
    const foreign = await Promise.all([keys.workspace, keys.account].map((key) => speak(turn(id), key)));
    const unknown = await speak(turn('audio_none'));
    for (const { status, json } of [...foreign, unknown]) {
      expect([status, json.error.param]).toEqual([404, 'messages.0.audio']);
      expect(json.error.message).toBe(unknown.json.error.message);
    }
  });

  test('is unknown once it has expired', async () => {
    const id = await answered('gone');
    expect((await speak(turn(id))).status).toBe(404);
  });

  test('that expires at no time is known as long as others', async () => {
    const id = await answered('odd');
    expect((await speak(turn(id))).status).toBe(200);
  });
});
