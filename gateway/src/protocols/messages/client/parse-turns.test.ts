/** Tests the parsing of turns and blocks against the wire reference, B.3 and C.2. */
import { describe, expect, test } from 'bun:test';
import type { Part } from '../../../generation/part.ts';
import { parse, refusal } from '../testing/request-rig.ts';

const body = (messages: unknown, system?: unknown) => ({ model: 'm', max_tokens: 10, messages, system });
const partsOf = (role: string, ...content: unknown[]): readonly Part[] =>
  parse(body([{ role, content }])).request.turns[0]?.parts ?? [];
const wordsOf = (block: object) => {
  const [part] = partsOf('assistant', block);
  return part?.kind === 'opaque' ? part.words : 'not opaque';
};
const text = (value: string) => ({ kind: 'text', text: value, citations: [], cache_mark: null });

test('vector 41: each block of system is a part of one turn in front, the attribution and the mark too', () => {
  const system = [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
    { type: 'text', text: 'You are' },
    { type: 'text', text: 'helpful', cache_control: { type: 'ephemeral' } },
  ];
  const { request, dropped } = parse(body([{ role: 'user', content: 'hi' }], system), true);
  expect(request.turns).toEqual([
    {
      role: 'system',
      name: null,
      path: 'system',
      parts: [
        { kind: 'text', text: 'x-anthropic-billing-header: cc_version=1', citations: [], cache_mark: null },
        { kind: 'text', text: 'You are', citations: [], cache_mark: null },
        { kind: 'text', text: 'helpful', citations: [], cache_mark: { ttlMinutes: null } },
      ],
    },
    {
      role: 'user',
      name: null,
      path: 'messages.0',
      parts: [{ kind: 'text', text: 'hi', citations: [], cache_mark: null }],
    },
  ]);
  expect(dropped).toEqual([]);
});

test('an empty system is no turn, and a turn of the role system stays where it was', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'system', content: 'b' },
    { role: 'assistant', content: 'c' },
  ];
  for (const system of ['', [], null]) {
    expect(parse(body(messages, system)).request.turns.map(({ role }) => role)).toEqual([
      'user',
      'system',
      'assistant',
    ]);
  }
});

test('vectors 48 and 49: the input of a call stays as it was written', () => {
  const input = '{"z": 12345678901234567890, "a":{"b" :1.10}}';
  const { request } = parse(
    `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"t","input":${input}}]}]}`,
  );
  expect(request.turns[0]?.parts).toEqual([
    { kind: 'tool_call', id: 'toolu_1', name: 't', tool: 'function', arguments: input, cache_mark: null },
  ]);
});

test('vector 2: an empty input is the empty object', () => {
  expect(partsOf('assistant', { type: 'tool_use', id: 'a', name: 't', input: {} })).toMatchObject([
    { arguments: '{}' },
  ]);
});

test('vector 38: results and texts keep the order in which they were written', () => {
  const parts = partsOf(
    'user',
    { type: 'tool_result', tool_use_id: 'a', content: 'one' },
    { type: 'text', text: 'between' },
    { type: 'tool_result', tool_use_id: 'b', is_error: true },
  );
  expect(parts).toEqual([
    {
      kind: 'tool_result',
      call_id: 'a',
      parts: [{ kind: 'text', text: 'one', citations: [], cache_mark: null }],
      is_error: false,
      cache_mark: null,
    },
    { kind: 'text', text: 'between', citations: [], cache_mark: null },
    { kind: 'tool_result', call_id: 'b', parts: [], is_error: true, cache_mark: null },
  ]);
});

test('bug: CLIProxyAPI #1670, images and documents in a result are read', () => {
  const [result] = partsOf('user', {
    type: 'tool_result',
    tool_use_id: 'a',
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } },
      { type: 'tool_reference', tool_name: 'lookup' },
    ],
  });
  expect(result?.kind === 'tool_result' ? result.parts : null).toEqual([
    { kind: 'text', text: 'see', citations: [], cache_mark: null },
    {
      kind: 'image',
      source: { kind: 'base64', media_type: 'image/png', base64: 'AAAA' },
      detail: null,
      cache_mark: null,
    },
    {
      kind: 'document',
      source: { kind: 'url', url: 'https://x.example/a.pdf' },
      title: null,
      context: null,
      cites: false,
      cache_mark: null,
    },
    {
      kind: 'opaque',
      type: 'tool_reference',
      native: { origin: 'messages', json: '{"type":"tool_reference","tool_name":"lookup"}' },
      words: '[tool: lookup]',
    },
  ]);
});

test('vector 22: thinking without text keeps its signature, and an empty signature is dropped', () => {
  expect(
    partsOf(
      'assistant',
      { type: 'thinking', thinking: '', signature: 'sig==' },
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'redacted_thinking', data: 'xyz' },
    ),
  ).toEqual([
    { kind: 'reasoning', text: '', signature: 'sig==', redacted: false, issuer: 'messages' },
    { kind: 'reasoning', text: 'hm', signature: null, redacted: false, issuer: 'messages' },
    { kind: 'reasoning', text: '', signature: 'xyz', redacted: true, issuer: 'messages' },
  ]);
});

test('citations of the history are kept as written, and web citations are recognized', () => {
  const web = {
    type: 'web_search_result_location',
    url: 'https://x.example',
    title: 't',
    cited_text: 'q',
    encrypted_index: 'e',
  };
  const chars = { type: 'char_location', cited_text: 'q', document_index: 0, start_char_index: 0, end_char_index: 3 };
  expect(partsOf('assistant', { type: 'text', text: 'said', citations: [web, chars] })).toMatchObject([
    {
      citations: [
        { kind: 'url', url: 'https://x.example', title: 't', quote: 'q', native: { json: JSON.stringify(web) } },
        { kind: 'opaque', native: { origin: 'messages', json: JSON.stringify(chars) } },
      ],
    },
  ]);
  expect(partsOf('assistant', { type: 'text', text: 'said', citations: null })).toMatchObject([text('said')]);
});

describe('documents', () => {
  const sourceOf = (source: object) => {
    const [part] = partsOf('user', { type: 'document', source });
    return part?.kind === 'document' ? part.source : null;
  };

  test('a document is read with its title, context and request for citations', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const block = { type: 'document', source, title: 't', context: 'c', citations: { enabled: true } };
    expect(partsOf('user', block)).toEqual([
      {
        kind: 'document',
        source: { kind: 'base64', media_type: 'application/pdf', base64: 'JVBERi0=' },
        title: 't',
        context: 'c',
        cites: true,
        cache_mark: null,
      },
    ]);
  });

  test('each kind of source is read', () => {
    expect(sourceOf({ type: 'text', media_type: 'text/plain', data: 'abc' })).toEqual({ kind: 'text', text: 'abc' });
    expect(sourceOf({ type: 'file', file_id: 'file_1' })).toEqual({ kind: 'file', id: 'file_1' });
    expect(sourceOf({ type: 'content', content: 'abc' })).toEqual({ kind: 'text', text: 'abc' });
    const blocks = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(sourceOf({ type: 'content', content: blocks })).toEqual({ kind: 'text', text: 'a\nb' });
  });

  test('a document of images is refused', () => {
    const found = refusal(() => sourceOf({ type: 'content', content: [{ type: 'image' }] }));
    expect(found?.param).toBe('messages.0.content.0.source.content.0.type');
  });
});

test.each([
  [{ type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'news' } }, '[web_search: news]'],
  [{ type: 'mcp_tool_use', id: 's', name: 'ask', server_name: 'w', input: { n: 1 } }, '[ask: {"n":1}]'],
  [
    {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: [{ type: 'web_search_result', title: 'T', url: 'https://x.example', encrypted_content: 'zzz' }],
    },
    '[web_search: T https://x.example]',
  ],
  [
    {
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: { type: 'web_search_tool_result_error', error_code: 'too_many_requests' },
    },
    '[web_search: too_many_requests]',
  ],
  [
    {
      type: 'web_fetch_tool_result',
      content: {
        type: 'web_fetch_result',
        url: 'https://x.example',
        content: { type: 'document', title: 'T', source: { type: 'text', data: 'page' } },
      },
    },
    '[web_fetch: https://x.example\nT\npage]',
  ],
  [
    { type: 'bash_code_execution_tool_result', content: { stdout: 'ok', stderr: 'bad', content: [] } },
    '[bash_code_execution: ok bad]',
  ],
  [{ type: 'tool_search_tool_result', content: { tool_references: [{ tool_name: 'rate' }] } }, '[tool_search: rate]'],
  [{ type: 'mcp_tool_result', content: [{ type: 'text', text: 'found' }] }, '[mcp: found]'],
  [{ type: 'advisor_tool_result', content: { type: 'advisor_redacted_result', encrypted_content: 'zz' } }, null],
  [{ type: 'compaction', content: 'so far' }, 'so far'],
  [{ type: 'container_upload', file_id: 'file_1' }, null],
  [{ type: 'fallback', from: { model: 'a' } }, null],
  [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'rate' } }, '[tool added: rate]'],
  [
    {
      type: 'search_result',
      source: 'https://x.example',
      title: 'T',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    '[search result: T (https://x.example)]\na\nb',
  ],
  [{ type: 'born_tomorrow', text: 'said' }, '[born_tomorrow: said]'],
  [{ type: 'born_tomorrow', content: 5, text: [], title: null }, null],
] as const)('%j is told as %j', (block, words) => {
  expect(wordsOf(block)).toBe(words as string | null);
});

test('results of a server tool are truncated with a note; the caller’s text is not', () => {
  const long = 'x'.repeat(5000);
  const found = wordsOf({ type: 'mcp_tool_result', content: long });
  expect(found).toHaveLength(2000);
  expect(found).toEndWith(' … [cut]');
  expect(wordsOf({ type: 'compaction', content: long })).toBe(long);
});

test('a block nested far deeper than any real one is kept without its text', () => {
  let nested: unknown = 'deep';
  for (let depth = 0; depth < 50; depth++) nested = { content: nested };
  expect(wordsOf({ type: 'born_tomorrow', text: 'top', content: nested })).toBe('[born_tomorrow: top]');
});

test.each([
  ['user', { type: 'tool_use', id: 'a', name: 't', input: {} }, 'messages.0.content.0.type'],
  ['user', { type: 'thinking', thinking: 'a', signature: 's' }, 'messages.0.content.0.type'],
  ['assistant', { type: 'tool_result', tool_use_id: 'a' }, 'messages.0.content.0.type'],
  ['assistant', { type: 'tool_use', id: 'a', name: 't', input: '{}' }, 'messages.0.content.0.input'],
  ['assistant', { type: 'tool_use', id: 'a', name: 't' }, 'messages.0.content.0.input'],
  ['assistant', { type: 'tool_use', name: 't', input: {} }, 'messages.0.content.0.id'],
  ['user', { type: 'text' }, 'messages.0.content.0.text'],
  ['user', { type: 'image', source: { type: 'text', data: 'x' } }, 'messages.0.content.0.source.type'],
  ['user', { type: 'image' }, 'messages.0.content.0.source'],
  ['user', { type: 'tool_result', tool_use_id: 'a', content: 5 }, 'messages.0.content.0.content'],
  ['user', { type: 'tool_result', tool_use_id: 'a', is_error: 'no' }, 'messages.0.content.0.is_error'],
  ['user', { text: 'x' }, 'messages.0.content.0.type'],
  ['user', 'text', 'messages.0.content.0'],
])('a turn of the role %s with %j is refused at %s', (role, block, param) => {
  expect(refusal(() => partsOf(role, block))?.param).toBe(param);
});

test('members of blocks that only Anthropic reads are reported once, and a direct caller is not', () => {
  const call = { type: 'tool_use', id: 'a', name: 't', input: {} };
  const read = parse(
    body([
      { role: 'assistant', content: [{ ...call, caller: { type: 'direct' } }] },
      {
        role: 'assistant',
        content: [
          { ...call, caller: { type: 'code_execution_20260120' } },
          { ...call, toolset_name: 'x' },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'url', url: 'u' }, transformations: { oversized_image: 'error' } }],
      },
    ]),
  );
  expect(read.dropped).toEqual(['tool_use.caller', 'tool_use.toolset_name', 'image.transformations']);
});
