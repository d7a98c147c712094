/** Tests that Google's signatures in a Gemini client's history go only to the host that gave them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { HELLO, lastSent, partsIn, plain, streamed } from './rig.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) => {
    const host = { kind: 'openai-compatible', base_url: `${fakeUrl}/v1`, api_key: 'none' };
    const target = (provider: string) => ({ targets: [{ provider }], price: { input: 1, output: 5 } });
    return { providers: { host, other: host }, models: { signing: target('host'), plain: target('other') } };
  });
  const extra_content = { google: { thought_signature: 'c2lnbmVk' } };
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content };
  const answer = (form: object) => ({ id: 'chatcmpl-1', created: 1, model: 'signing', ...form });
  const message = { role: 'assistant', content: null, tool_calls: [call] };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunk = (choice: object) => {
    const choices = [{ index: 0, finish_reason: null, ...choice }];
    return `data: ${JSON.stringify(answer({ object: 'chat.completion.chunk', choices }))}\n\n`;
  };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  pair.fake.script('signing', [
    { json: answer({ object: 'chat.completion', choices, usage }) },
    { answer: 'ok' },
    {
      records: [
        chunk({ delta: { role: 'assistant', tool_calls: [{ index: 0, ...call }] } }),
        chunk({ delta: {}, finish_reason: 'tool_calls' }),
        'data: [DONE]\n\n',
      ],
    },
    { answer: 'ok' },
  ]);
  pair.fake.script('plain', { answer: 'ok' });
});
afterAll(() => pair.stop());

const tools = [{ functionDeclarations: [{ name: 'look' }] }];
const after = (parts: readonly object[]) => {
  const result = { functionResponse: { id: 'call_1', name: 'look', response: { output: 'fog' } } };
  const contents = [...HELLO.contents, { role: 'model', parts }, { role: 'user', parts: [result] }];
  return { contents, tools };
};
const sentCall = (model: string) => lastSent(pair, model).messages[1].tool_calls[0];

test('one that Google itself gave goes to no other host', async () => {
  const call = { functionCall: { id: 'call_1', name: 'look', args: {} }, thoughtSignature: 'c2lnbmVk' };
  expect((await plain(pair, 'plain', after([call]))).status).toBe(200);
  expect(Object.keys(sentCall('plain'))).toEqual(['id', 'type', 'function']);
});

test.each([
  ['plain', plain],
  ['streamed', streamed],
] as const)('one of a host of the chat format goes back to it alone, %s', async (_form, get) => {
  const { text } = await get(pair, 'signing', { ...HELLO, tools });
  const parts = partsIn(text);
  expect(parts[0]).toMatchObject({ functionCall: { id: 'call_1', name: 'look', args: {} } });
  for (const model of ['signing', 'plain']) expect((await plain(pair, model, after(parts))).status).toBe(200);
  expect(sentCall('signing').extra_content).toEqual({ google: { thought_signature: 'c2lnbmVk' } });
  expect(Object.keys(sentCall('plain'))).toEqual(['id', 'type', 'function']);
});
