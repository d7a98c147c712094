/** Tests that the pages of a provider's list of models are all read, up to bounds that are said when they are reached. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { probeProvider } from '../../src/call/attempt/probe-provider.ts';
import { listModels } from '../../src/catalog/catalog.ts';
import { buildRemoteProvider } from '../../src/config/resolve-providers.ts';
import { Secret } from '../../src/lib/secret.ts';
import { anthropic } from '../../src/providers/kinds/anthropic.ts';
import { gemini } from '../../src/providers/kinds/gemini.ts';
import { openaiCompatible } from '../../src/providers/kinds/openai-compatible.ts';
import { vertex } from '../../src/providers/kinds/vertex.ts';
import { findPreset } from '../../src/providers/presets/presets.ts';
import { type RemoteKind, singleCredential } from '../../src/providers/provider.ts';

type Page = (query: URLSearchParams) => unknown;

let page: Page;
let asked: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, search, searchParams } = new URL(request.url);
    asked.push(pathname + search);
    const made = page(searchParams);
    return made instanceof Response ? made : Response.json(made);
  },
});
const url = `http://127.0.0.1:${server.port}`;
beforeEach(() => {
  asked = [];
});
afterAll(() => server.stop(true));

const TIMEOUTS = { connectMs: 5_000, firstByteMs: 5_000, firstBytePlainMs: 5_000, idleMs: 5_000, totalMs: 5_000 };

function probe(kind: RemoteKind, preset = findPreset(kind.name) ?? null) {
  const address = { url, origin: url };
  const pool = singleCredential({ api_key: new Secret('key-0123456789') });
  return probeProvider(buildRemoteProvider({ name: 'lab', kind, preset, address, pool, timeouts: TIMEOUTS }));
}

const namesOf = ({ models }: Awaited<ReturnType<typeof probe>>) => models.map(({ model }) => model);
const ids = (...all: readonly string[]) => all.map((id) => ({ id }));
const named = (...all: readonly string[]) => all.map((name) => ({ name: `models/${name}` }));
const CURSOR = 'a/b+c==&d';

describe('a list of several pages', () => {
  test('of Anthropic is read with after_id', async () => {
    page = (query) =>
      query.get('after_id') === 'claude-b'
        ? { data: ids('claude-c'), has_more: false, last_id: 'claude-c' }
        : { data: ids('claude-a', 'claude-b'), has_more: true, last_id: 'claude-b' };
    const found = await probe(anthropic);
    expect(found).toMatchObject({ ok: true, message: 'It has 3 models.', isCut: false });
    expect(namesOf(found)).toEqual(['claude-a', 'claude-b', 'claude-c']);
    expect(asked).toEqual(['/v1/models?limit=1000', '/v1/models?limit=1000&after_id=claude-b']);
  });

  test.each([
    [gemini, '/v1beta/models?pageSize=1000', 'models'],
    [vertex, '/v1beta1/publishers/google/models?pageSize=300', 'publisherModels'],
  ] as const)('of Google is read with its tokens (%#)', async (kind, path, member) => {
    page = (query) =>
      query.get('pageToken') === CURSOR
        ? { [member]: named('gemini-c'), nextPageToken: '' }
        : { [member]: named('gemini-a', 'gemini-b'), nextPageToken: CURSOR };
    expect(namesOf(await probe(kind))).toEqual(['gemini-a', 'gemini-b', 'gemini-c']);
    expect(asked).toEqual([path, `${path}&pageToken=${encodeURIComponent(CURSOR)}`]);
  });

  test("of OpenAI's format is read with after", async () => {
    page = (query) =>
      query.get('after') === 'b'
        ? { data: ids('b', 'c'), has_more: false }
        : { data: ids('a', 'b'), has_more: true, last_id: 'b' };
    expect(namesOf(await probe(openaiCompatible))).toEqual(['a', 'b', 'c']);
    expect(asked).toEqual(['/models', '/models?after=b']);
  });

  test('fails where one of them fails: a part is not taken for the whole', async () => {
    page = (query) =>
      query.has('pageToken')
        ? Response.json({ error: { message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }, { status: 429 })
        : { models: named('gemini-a'), nextPageToken: 'next' };
    const found = await probe(gemini);
    expect(found).toMatchObject({ ok: false, trouble: 'busy', models: [] });
    expect(found.message).toContain('It answered 429: slow down.');
  });
});

describe('a list that is longer is cut, and says so', () => {
  test('after 20 pages', async () => {
    page = () => ({ models: named(`gemini-${asked.length}`), nextPageToken: `page-${asked.length}` });
    const found = await probe(gemini);
    expect(asked).toHaveLength(20);
    expect(found).toMatchObject({
      ok: true,
      isCut: true,
      message: 'It has 20 models or more: its list continues after these.',
    });
  });

  test('after 5,000 models', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => index);
    page = () => ({
      models: named(...many.map((index) => `gemini-${asked.length}-${index}`)),
      nextPageToken: `page-${asked.length}`,
    });
    const found = await probe(gemini);
    expect([asked.length, found.models.length, found.isCut]).toEqual([2, 5_000, true]);
  });

  test.each([['next'], ['two words'], ['\ud800'], ['x'.repeat(4_096)], [7], [{}], [null]])(
    'at a cursor that leads nowhere (%#)',
    async (cursor) => {
      page = () => ({ models: named('gemini-a'), nextPageToken: cursor });
      expect(await probe(gemini)).toMatchObject({ ok: true, isCut: true, models: [{ model: 'gemini-a' }] });
      expect(asked.length).toBe(cursor === 'next' ? 2 : 1);
    },
  );
});

test('a model of the catalogue has the date on which it shuts down', async () => {
  const dated = listModels('anthropic').find(({ shutdown }) => shutdown !== null);
  page = () => ({ data: ids(dated?.id ?? '', 'claude-of-tomorrow'), has_more: false });
  expect((await probe(anthropic)).models).toEqual([
    { model: dated?.id ?? '', retires: { on: dated?.shutdown ?? '', by: 'provider' } },
    { model: 'claude-of-tomorrow', retires: null },
  ]);
});
