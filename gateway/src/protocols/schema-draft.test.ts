/** Tests which keywords of older drafts change, and that everything else stays as written. */
import { expect, test } from 'bun:test';
import { requestOf } from '../generation/testing/request-of.ts';
import type { GenerationUpstreamName } from './names.ts';
import { UPSTREAM_PROTOCOLS } from './registry.ts';
import { startTranslationNotes } from './request/translation-notes.ts';
import { bringToDraft2020 } from './schema-draft.ts';
import { CAPABLE } from './testing/capable-upstream.ts';

test.each([
  ['a tuple', '{"items":[{"a":1},{}],"additionalItems":false}', '{"prefixItems":[{"a":1},{}],"items":false}'],
  ['an empty tuple', '{"type":"array","items":[]}', '{"type":"array"}'],
  [
    'tuples below',
    '{"properties":{"a":{"anyOf":[{"items":[{"items":[{}]}]}]}},"additionalProperties":{"items":[true]}}',
    '{"properties":{"a":{"anyOf":[{"prefixItems":[{"prefixItems":[{}]}]}]}},"additionalProperties":{"prefixItems":[true]}}',
  ],
  ['an exclusive limit', '{"minimum":1.50,"exclusiveMinimum":true}', '{"exclusiveMinimum":1.50}'],
  ['one that is not', '{"maximum":5,"exclusiveMaximum":false}', '{"maximum":5}'],
  ['one without a limit', '{"exclusiveMaximum":true}', '{}'],
  ['a required property', '{"properties":{"a":{"required":true}}}', '{"properties":{"a":{}}}'],
  ['members left out', '{"required":null,"properties":null,"description":null}', '{}'],
])('%s is brought to the draft', (_what, schema, brought) => {
  expect(bringToDraft2020(schema)).toBe(brought);
});

test.each([
  '{ "type": "array", "items": {"minimum": 1.0, "exclusiveMinimum": 0}, "additionalItems": false }',
  '{"properties":{"items":{"default":null},"required":{"const":null}},"required":["items"],"x":null}',
  '{"enum":[{"items":[1],"required":true}],"default":{"items":[]}}',
  '{"a":1,"a":2}',
  'true',
])('%s stays as it was written', (schema) => {
  expect(bringToDraft2020(schema)).toBe(schema);
});

test.each<GenerationUpstreamName>(['messages', 'converse'])('tools of %s are of the draft', (upstream) => {
  const parameters =
    '{"type":"object","properties":{"at":{"type":"array","items":[{"type":"number"}]}},"required":null}';
  const tool = { kind: 'function', name: 'f', description: null, parameters, strict: null, cache_mark: null } as const;
  const request = requestOf({ tools: [tool], outputTokensMax: 9 });
  const { json } = UPSTREAM_PROTOCOLS[upstream].renderRequest(request, CAPABLE, startTranslationNotes(false));
  expect(json).toContain('{"type":"object","properties":{"at":{"type":"array","prefixItems":[{"type":"number"}]}}}');
});
