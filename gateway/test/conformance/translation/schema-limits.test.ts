/** Tests that a request whose schemas exceed what Claude can hold an answer to is sent again without that. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Pair, sentTexts, startPair } from '../../harness/start-pair.ts';

const MODEL = 'claude-sonnet-4-6';
const REFUSALS = [
  'Too many strict tools (27). The maximum number of strict tools supported is 20.',
  'Schemas contains too many parameters with union types (19 parameters with type arrays or anyOf). This causes exponential compilation cost.',
  'Schemas contains too many optional parameters (87), which would make grammar compilation inefficient.',
  'The compiled grammar is too large, which would cause performance issues.',
];

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) => ({
    providers: { claude: { kind: 'anthropic', base_url: `${fakeUrl}/v1`, api_key: 'none' } },
    models: { [MODEL]: { targets: [{ provider: 'claude' }], price: { input: 1, output: 5 } } },
  }));
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

const schema = {
  type: 'object',
  properties: { a: { type: ['string', 'null'] } },
  required: ['a'],
  additionalProperties: false,
};

/** The answer to a request that Claude refuses at first, and the bodies that it got. */
async function ask(refusal: string, say: object, more: object, key = pair.gateway.key) {
  const error = { type: 'invalid_request_error', message: refusal };
  pair.fake.script(MODEL, [{ status: 400, json: { type: 'error', error } }, { say }]);
  const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Go.' }], ...more }),
  });
  const sent = sentTexts(pair, MODEL).map((text) => JSON.parse(text));
  return {
    status: response.status,
    dropped: response.headers.get('x-tollgate-dropped'),
    text: await response.text(),
    sent,
  };
}

/** The text of an answer, plain or streamed. */
function wordsOf(text: string): string {
  const answers = text.startsWith('{') ? [text] : [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => data);
  const choices = answers.flatMap((json) => JSON.parse(json).choices);
  return choices.map(({ message, delta = message }) => delta.content ?? '').join('');
}

describe.each(REFUSALS)('%s', (refusal) => {
  test('a strict tool is not strict the second time, and that is named', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: schema, strict: true } }];
    const { status, dropped, sent } = await ask(refusal, { text: 'Done.' }, { tools });
    expect([status, dropped]).toEqual([200, 'tools.0.strict']);
    expect(sent.map((body) => body.tools[0].strict)).toEqual([true, undefined]);
  });

  test.each([false, true])('the form of the answer goes through a tool, streamed: %j', async (stream) => {
    const calls = [{ id: 'call_1', name: 'json_output', input: { a: null } }];
    const response_format = { type: 'json_schema', json_schema: { name: 'out', schema, strict: true } };
    const { status, text, sent } = await ask(refusal, { calls }, { response_format, stream });
    expect(status).toBe(200);
    expect(wordsOf(text)).toBe('{"a":null}');
    expect(sent.map((body) => [body.output_config !== undefined, body.tools?.[0].input_schema])).toEqual([
      [true, undefined],
      [false, schema],
    ]);
  });
});

test('a strict key gets the refusal', async () => {
  const { stdout } = await pair.gateway.run('keys', 'create', '--name', 's', '--strict', '--json');
  const key = /tg_[0-9A-Za-z]+/.exec(stdout)?.[0] ?? '';
  const tools = [{ type: 'function', function: { name: 'f', parameters: schema, strict: true } }];
  const { status, text, sent } = await ask(REFUSALS[0] ?? '', { text: 'Done.' }, { tools }, key);
  expect([status, sent.length]).toEqual([400, 1]);
  expect(text).toContain('Too many strict tools');
});

test('another refusal is passed on', async () => {
  const { status, sent } = await ask('tools.0: too many', { text: 'Done.' }, { tools: [] });
  expect([status, sent.length]).toEqual([400, 1]);
});
