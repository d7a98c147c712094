/** Tests that only the scopes of cache marks are removed, wherever a mark may be. */
import { expect, test } from 'bun:test';
import { withoutCacheScopes } from './cache-scope.ts';

const strip = (json: string) => Buffer.from(withoutCacheScopes(Buffer.from(json))).toString();

test('the marks of the request, its system, tools, blocks and results lose their scopes', () => {
  const mark = (members: string) => `"cache_control":{"type":"ephemeral"${members}}`;
  const of = (members: string) =>
    `{"system":[{"type":"text", "text":"a",${mark(members)}}],"tools":[{"name":"f","input_schema":{"n":1.0},${mark(members)}}],` +
    `"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"b",${mark(members)}}],${mark(members)}}]}],${mark(members)}}`;
  expect(strip(of(',"scope":"global"'))).toBe(of(''));
});

test.each([
  ['other scopes', '{"tools":[{"name":"f","input_schema":{"properties":{"scope":{"type":"string"}}}}]}'],
  ['a mark in an example', '{"messages":[{"role":"user","content":"\\"cache_control\\":{\\"scope\\":1}"}]}'],
  ['a body that is no JSON', '{"scope"'],
])('%s stay as they are', (_case, json) => {
  expect(strip(json)).toBe(json);
});
