/**
 * Tests requests through a running gateway: vectors 15, 39 and 43 of the specification, calls without outputs, and that
 * content newer than the gateway passes to upstreams of the format untouched and is named for the others.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, sentTexts, startPair } from '../../harness/start-pair.ts';
import { type Answer, ask, configOf, droppedBy, lastSent, OF_EACH_FORMAT } from './rig.ts';

const UPSTREAM = { m: 'm-ok', c: 'c-ok', r: 'r-ok' } as const;
const configFor = configOf(OF_EACH_FORMAT, {
  m: ['anthropic', UPSTREAM.m],
  c: ['lab', UPSTREAM.c],
  r: ['openai', UPSTREAM.r],
});

let pair: Pair;
beforeAll(async () => {
  pair = await startPair(configFor);
  for (const model of Object.values(UPSTREAM)) pair.fake.script(model, { answer: 'ok' });
}, 60_000);
afterAll(() => pair.stop());

const respond = (model: string, members: object): Promise<Answer> =>
  ask(pair, '/v1/responses', { model, store: false, ...members });

const QUESTION = { role: 'user', content: 'hi' };
const CALL = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"a":1}' };

// Vector 15.
test.each(['r', 'm', 'c'])('reasoning with neither summary nor content is accepted, upstream %s', async (model) => {
  for (const reasoning of [
    {},
    { summary: [] },
    { summary: [], content: [] },
    { content: null, encrypted_content: null },
  ]) {
    const input = [QUESTION, { type: 'reasoning', ...reasoning }, { role: 'assistant', content: 'a' }, QUESTION];
    const answer = await respond(model, { input });
    expect([reasoning, answer.status, droppedBy(answer)]).toEqual([reasoning, 200, []]);
  }
});

// Vector 39.
describe('an output of text and images', () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' };
  const output = [{ type: 'input_text', text: 'a picture' }, image];
  const input = [QUESTION, CALL, { type: 'function_call_output', call_id: 'call_1', output }];

  test('is text in the message of the tool and a labeled image of the user over chat completions', async () => {
    expect((await respond('c', { input })).status).toBe(200);
    const { messages } = lastSent(pair, 'c-ok');
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'a picture' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of the tool call call_1:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
        ],
      },
    ]);
  });

  test('stays in the result over messages', async () => {
    const answer = await respond('m', { input });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect(lastSent(pair, 'm-ok').messages[2].content).toMatchObject([
      {
        type: 'tool_result',
        tool_use_id: 'call_1',
        content: [
          { type: 'text', text: 'a picture' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      },
    ]);
  });

  test('passes as it is at a provider of the format', async () => {
    expect((await respond('r', { input })).status).toBe(200);
    expect(lastSent(pair, 'r-ok').input).toEqual(input);
  });
});

/** Sends the bytes of a body, with a beta that no version of the gateway knows. */
async function sendBytes(body: string) {
  const { gateway } = pair;
  const reply = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.key}`,
      'content-type': 'application/json',
      'openai-beta': 'things_of_2030=v1',
    },
    body,
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

const NEW_MEMBERS =
  '"store" : false, "novel":{"deep":[1,{"a":12345678901234567}]},"temperature":1.0,"metadata":{"k":"\\u0061\\/b"}';
const NEW_TOOLS = '"tools":[{"type":"brand_new","x":1e2,"name":"n"}]';
const NEW_ITEMS =
  '"input":[{"content":"a\\u00e9","role":"user","passthrough":{"b":0.10}},{"type":"foo","bar":[null,12345678901234567]}]';

// Vectors 40, 41 and 43.
describe('new members, tools, items, parts and events', () => {
  test('pass to a provider of the format byte for byte, and its answer back', async () => {
    const events = [
      { type: 'response.created', sequence_number: 0, response: { id: 'resp_1', status: 'in_progress', output: [] } },
      { type: 'response.telepathy.delta', sequence_number: 1, thought: 12345678901234567890n.toString() },
      {
        type: 'response.completed',
        sequence_number: 2,
        response: {
          id: 'resp_1',
          status: 'completed',
          output: [{ type: 'dream', id: 'dr_1' }],
          usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7, dreams: 1 },
        },
      },
    ];
    const records = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}  \n\n`);
    pair.fake.script('r-ok', [{ records }, { answer: 'ok' }]);
    const body = `{ "stream":true,${NEW_MEMBERS},\t${NEW_ITEMS} ,"model":"r",${NEW_TOOLS}}`;
    const answer = await sendBytes(body);
    expect([answer.status, droppedBy(answer)]).toEqual([200, []]);
    expect(sentTexts(pair, 'r-ok').at(-1)).toBe(body.replace('"r"', '"r-ok"'));
    expect(new Map(pair.fake.served('r-ok').at(-1)?.headers).get('openai-beta')).toBe('things_of_2030=v1');
    expect(answer.text).toBe(records.join(''));
    const [record] = await pair.gateway.calls('--limit', '1');
    expect([record?.status, record?.usage.input, record?.usage.output]).toEqual([200, 3, 4]);
  });

  describe.each(['m', 'c'])('upstream %s', (model) => {
    const refused = async (members: string) => {
      const answer = await sendBytes(`{"model":"${model}",${members}}`);
      const { param, message } = JSON.parse(answer.text).error;
      return [answer.status, param, message];
    };

    test('members are left out and named, with the beta', async () => {
      const answer = await sendBytes(
        `{"model":"${model}","input":[{"role":"user","content":"a","new":1}],${NEW_MEMBERS}}`,
      );
      expect([answer.status, droppedBy(answer)]).toEqual([200, expect.arrayContaining(['novel', 'openai-beta'])]);
    });

    test('tools, items and parts are refused by their place', async () => {
      for (const [members, param, word] of [
        [`"input":"a",${NEW_TOOLS}`, 'tools', 'brand_new'],
        [NEW_ITEMS, 'input.1.type', 'foo'],
        ['"input":[{"role":"user","content":[{"type":"smell"}]}]', 'input.0.content.0.type', 'smell'],
      ] as const) {
        expect(await refused(members)).toEqual([400, expect.stringContaining(param), expect.stringContaining(word)]);
      }
    });
  });
});

test.each(['m', 'c'])('a call that an interrupted client never answered gets a result, upstream %s', async (model) => {
  const second = { ...CALL, call_id: 'call_2' };
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'seen' };
  for (const input of [
    [QUESTION, CALL, second, output, QUESTION],
    [QUESTION, CALL, second],
    [QUESTION, CALL, QUESTION, { role: 'assistant', content: 'a' }, QUESTION],
  ]) {
    const answer = await respond(model, { input });
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    const sent = JSON.stringify(lastSent(pair, UPSTREAM[model as 'm']));
    expect(sent).toContain('The call was not completed');
    expect(sent.split('The call was not completed').length - 1).toBe(input.length === 3 ? 2 : 1);
  }
});

test.each(['m', 'c'])('an output without its call is refused by its place, upstream %s', async (model) => {
  const input = [QUESTION, { type: 'function_call_output', call_id: 'call_9', output: 'seen' }];
  const { status, text } = await respond(model, { input });
  expect([status, JSON.parse(text).error.param]).toEqual([400, 'input.1']);
});
