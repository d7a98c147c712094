/** Tests where the cache mark of a whole request is placed, byte for byte, and when it is dropped. */
import { expect, test } from 'bun:test';
import { placeRootMark } from './root-cache-mark.ts';

const MARK = '"cache_control":{"type":"ephemeral"}';
const HOUR = '"cache_control":{"type": "ephemeral", "ttl":"1h"}';

function place(json: string) {
  const { body, isDropped } = placeRootMark(Buffer.from(json));
  return { json: Buffer.from(body).toString(), isDropped };
}

/** A request with a mark at its root, without it, and the blocks of its one message. */
const marked = (blocks: string, mark = MARK, before = '') =>
  `{"model":"m" , ${mark},${before}"messages":[{"role":"user","content":${blocks}}], "n":1.0}`;
const unmarked = (blocks: string, before = '') =>
  `{"model":"m",${before}"messages":[{"role":"user","content":${blocks}}], "n":1.0}`;

const text = (value: string, mark = '') => `{"type":"text","text":"${value}"${mark === '' ? '' : `,${mark}`}}`;

test.each([
  ['the last block', `[${text('a')}, ${text('b')} ]`, `[${text('a')}, ${text('b', MARK)} ]`],
  ['a content of one text', '"a\\u00e9é"', `[{"type":"text","text":"a\\u00e9é",${MARK}}]`],
  [
    'the block before thinking',
    `[${text('a')},{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}]`,
    `[${text('a', MARK)},{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}]`,
  ],
  [
    'the block before texts without visible characters',
    `[${text('a')},${text('')},${text(' ')}]`,
    `[${text('a', MARK)},${text('')},${text(' ')}]`,
  ],
  [
    'a block whose own mark is null',
    '[{"type":"image","cache_control":null,"source":{}}]',
    `[{"type":"image",${MARK},"source":{}}]`,
  ],
  [
    'the result of a tool, not the block in it',
    `[{"type":"tool_result","tool_use_id":"t","content":[${text('a')}] }]`,
    `[{"type":"tool_result","tool_use_id":"t","content":[${text('a')}],${MARK} }]`,
  ],
])('%s gets the mark of the request', (_case, given, expected) => {
  expect(place(marked(given))).toEqual({ json: unmarked(expected), isDropped: false });
});

test('the mark keeps its ttl and every byte', () => {
  expect(place(marked(`[${text('a')}]`, HOUR)).json).toBe(unmarked(`[${text('a', HOUR)}]`));
});

test('an earlier message gets it where the last one has no block for it', () => {
  const request = (first: string, root = '') =>
    `{"messages":[{"role":"user","content":${first}},{"role":"assistant","content":""},{"role":"assistant","content":[{"type":"thinking","thinking":"t"}]}]${root}}`;
  expect(place(request('"hi"', `,${MARK}`))).toEqual({ json: request(`[${text('hi', MARK)}]`), isDropped: false });
});

test('a block that has a mark keeps it; that of the request is dropped if it has another ttl', () => {
  const FIVE = '"cache_control":{"type":"ephemeral","ttl":"5m"}';
  for (const [own, root, isDropped] of [
    [MARK, MARK, false],
    [FIVE, MARK, false],
    [MARK, HOUR, true],
  ] as const) {
    expect(place(marked(`[${text('a', own)}]`, root))).toEqual({ json: unmarked(`[${text('a', own)}]`), isDropped });
  }
});

test('a request with four marks gets no fifth', () => {
  const before = (marks: string) =>
    `"system":[${text('s', MARK)}],"tools":[{"name":"f","input_schema":{},${MARK}}${marks}],`;
  const blocks = (last: string) =>
    `[{"type":"tool_result","tool_use_id":"t","content":[${text('x', MARK)}]},${text('b', last)}]`;
  const four = before(`,{"name":"g","input_schema":{},${MARK}}`);
  expect(place(marked(blocks(''), MARK, four))).toEqual({ json: unmarked(blocks(''), four), isDropped: true });
  const three = before('');
  expect(place(marked(blocks(''), MARK, three))).toEqual({ json: unmarked(blocks(MARK), three), isDropped: false });
});

test.each(['[]', '""', `[${text('')}]`, 'null', '[1,{}]'])('is dropped where the content is %s', (content) => {
  expect(place(marked(content))).toEqual({ json: unmarked(content), isDropped: true });
});

test('is removed where it is null, which marks nothing', () => {
  expect(place(marked('"a"', '"cache_control":null'))).toEqual({ json: unmarked('"a"'), isDropped: false });
});

test.each([
  ['without any mark', unmarked('"a"')],
  ['with marks on blocks only', unmarked(`[${text('a', MARK)}]`)],
  ['that tells of marks', unmarked('"\\"cache_control\\":{}"')],
  ['that is no JSON', '{"cache_control":'],
])('a body %s is the same', (_case, json) => {
  const body = Buffer.from(json);
  expect(placeRootMark(body)).toEqual({ body, isDropped: false });
  expect(placeRootMark(body).body).toBe(body);
});
