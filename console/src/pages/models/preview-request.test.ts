/** Tests the requests of the routing preview. */
import { expect, test } from 'bun:test';
import { buildRequest, LENGTHS, parseRequest } from './preview-request.ts';

const PLAIN = { tokens: 0, hasTools: false, hasImage: false };

test('a plain request is left to the preview’s default', () => {
  expect(buildRequest('chat', PLAIN)).toBeUndefined();
});

test('tools and images have the form of their protocol', () => {
  const all = { tokens: 0, hasTools: true, hasImage: true };
  expect(buildRequest('chat', all)).toMatchObject({
    messages: [{ role: 'user', content: [{ type: 'text' }, { type: 'image_url' }] }],
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
  });
  expect(buildRequest('messages', all)).toMatchObject({
    messages: [{ content: [{ type: 'text' }, { type: 'image', source: { media_type: 'image/png' } }] }],
    tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
  });
});

test('the longest prompt is below the limit of the preview', () => {
  const tokens = Math.max(...LENGTHS.map(([one]) => one));
  expect(JSON.stringify(buildRequest('chat', { ...PLAIN, tokens })).length).toBeLessThan(1024 * 1024);
});

test('a pasted request is a JSON object', () => {
  expect(parseRequest('  ')).toEqual({});
  expect(parseRequest('{"messages": []}')).toEqual({ body: { messages: [] } });
  expect(parseRequest('[1]').fault).toContain('JSON object');
  expect(parseRequest('{"a":').fault).toContain('isn’t valid JSON');
  expect(parseRequest(`"${'x'.repeat(1_000_001)}"`).fault).toContain('less than 1 MB');
});

test.each([
  ['embeddings', ['input']],
  ['moderations', ['input']],
  ['audio', ['input']],
  ['completions', ['prompt']],
  ['images', ['prompt']],
  ['rerank', ['query', 'documents']],
] as const)('a long request of %s has the members that its format requires', (protocol, members) => {
  expect(Object.keys(buildRequest(protocol, { ...PLAIN, tokens: 2_000, hasTools: true }) ?? {})).toEqual([...members]);
  expect(buildRequest(protocol, { ...PLAIN, hasTools: true })).toBeUndefined();
});
