/** Tests requests whose upstream refuses an optional member that the gateway added or translated. Contract, 10.4. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post, type Side } from './calls.ts';
import { createKey } from './make-key.ts';
import { bodyFor } from './translated-rig.ts';

let pair: Pair;
const NAMES = Array.from({ length: 40 }, (_, index) => `m${index}`);
let used = 0;

beforeAll(async () => {
  pair = await startPair((url) => {
    const host = (kind: string) => ({ kind, base_url: `${url}/v1`, api_key: 'none' });
    const at = (provider: string) => ({ targets: [{ provider }], capabilities: { reasoning: true } });
    const models = NAMES.flatMap((name) => [
      [`chat-${name}`, at('lab')],
      [`claude-${name}`, at('lab-messages')],
    ]);
    return {
      providers: { lab: host('openai-compatible'), 'lab-messages': host('anthropic') },
      models: Object.fromEntries(models) as object,
    };
  });
});
afterAll(() => pair.stop());

/** Returns a new model with an upstream of the other format. */
function newModel(side: Side): string {
  const name = NAMES[used++];
  if (name === undefined) throw new Error('no name is left');
  return side === 'messages' ? `chat-${name}` : `claude-${name}`;
}

const refusal = (message: string, param: string | null = null, code: string | null = null): Scenario => ({
  status: 400,
  json: { type: 'error', error: { type: 'invalid_request_error', message, param, code } },
});
const OK: Scenario = { answer: 'ok' };

interface Met {
  readonly status: number;
  readonly dropped: string | null;
  readonly text: string;
  /** Bodies that upstream received, in order. */
  readonly sent: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

async function meet(
  side: Side,
  model: string,
  scenarios: Scenario[] | null,
  members: Readonly<Record<string, unknown>>,
  key?: string,
): Promise<Met> {
  if (scenarios !== null) pair.fake.script(model, scenarios);
  const before = pair.fake.served(model).length;
  const address = key === undefined ? pair.gateway : { url: pair.gateway.url, key };
  const response = await post(address, side, bodyFor(side, model, members));
  const text = await response.text();
  const sent = pair.fake
    .served(model)
    .slice(before)
    .map(({ requestBody }) => JSON.parse(Buffer.from(requestBody).toString()) as Record<string, unknown>);
  return { status: response.status, dropped: response.headers.get('x-tollgate-dropped'), text, sent };
}

const SIDES: readonly (readonly [Side, string, Readonly<Record<string, unknown>>, string])[] = [
  ['messages', 'temperature', { temperature: 0.3 }, 'temperature'],
  ['messages', 'top_k', { top_k: 7 }, 'top_k'],
  ['messages', 'reasoning_effort', { output_config: { effort: 'low' } }, 'output_config.effort'],
  ['chat', 'top_p', { top_p: 0.4 }, 'top_p'],
  ['chat', 'thinking', { reasoning_effort: 'low', max_tokens: 9_000 }, 'reasoning_effort'],
];

describe.each(SIDES)('%s: %s', (side, member, members, word) => {
  test.each([false, true])('is dropped, named, and the request sent once more (streamed: %p)', async (stream) => {
    const model = newModel(side);
    const refused = refusal(`Unsupported parameter: '${member}' is not supported with this model.`);
    const exchange = await meet(side, model, [refused, OK], { ...members, stream });
    expect([exchange.status, exchange.dropped, exchange.sent.length]).toEqual([200, word, 2]);
    expect(exchange.sent.map((body) => body[member] === undefined)).toEqual([false, true]);
    // The refusal is remembered for the workspace.
    const again = await meet(side, model, null, { ...members, stream });
    expect([again.status, again.dropped, again.sent.map((body) => body[member])]).toEqual([200, word, [undefined]]);
  });

  test('the second refusal is final; for a strict key the first one is', async () => {
    const refused = refusal(`${member}: Extra inputs are not permitted`);
    const exchange = await meet(side, newModel(side), [refused, refused, OK], members);
    expect([exchange.status, exchange.sent.length]).toEqual([400, 2]);
    const { key } = await createKey(pair.gateway, { strict: true });
    const strict = await meet(side, newModel(side), [refused, OK], members, key);
    expect([strict.status, strict.sent.length]).toEqual([400, 1]);
  });
});

test('a refused value is dropped, but not remembered', async () => {
  const model = newModel('messages');
  const refused = refusal("Unsupported value: 'temperature' does not support 0.3.", 'temperature', 'unsupported_value');
  const exchange = await meet('messages', model, [refused, OK], { temperature: 0.3 });
  expect([exchange.status, exchange.dropped]).toEqual([200, 'temperature']);
  expect((await meet('messages', model, null, { temperature: 0.3 })).sent).toMatchObject([{ temperature: 0.3 }]);
});

test('one of two conflicting members stays', async () => {
  const refused = refusal('`temperature` and `top_p` cannot both be specified for this model.');
  const exchange = await meet('chat', newModel('chat'), [refused, OK], { temperature: 0.3, top_p: 0.4 });
  expect([exchange.status, exchange.dropped, exchange.sent[1]]).toEqual([
    200,
    'top_p',
    expect.objectContaining({ temperature: 0.3 }),
  ]);
});

test('the output cap goes by the member that the host knows, and is never dropped', async () => {
  const model = newModel('messages');
  const refused = refusal("Unsupported parameter: 'max_tokens' is not supported with this model.", 'max_tokens');
  const exchange = await meet('messages', model, [refused, OK], {});
  expect([exchange.status, exchange.dropped]).toEqual([200, null]);
  expect(exchange.sent).toMatchObject([{ max_tokens: 64 }, { max_completion_tokens: 64 }]);
  expect((await meet('messages', model, null, {})).sent).toMatchObject([{ max_completion_tokens: 64 }]);
  const tooHigh = refusal('max_tokens must be at most 32', 'max_tokens', 'invalid_value');
  const stands = await meet('messages', newModel('messages'), [tooHigh, OK], {});
  expect([stands.status, stands.sent.length]).toEqual([400, 1]);
});

const tools = [{ name: 'f', input_schema: { type: 'object' } }];
test.each([
  ['tool_choice', { tools, tool_choice: { type: 'any' } }],
  ['response_format', { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }],
  ['messages', {}],
  ['model', {}],
  ['tools', { tools }],
  ['__proto__', {}],
  ['seed', {}],
])('%s is never dropped', async (member, members) => {
  const sentMembers = { ...members, temperature: 0.3 };
  for (const refused of [
    refusal(`Unsupported parameter: '${member}' is not supported; remove it, not 'temperature'.`),
    refusal('not supported, see temperature', member, 'unknown_parameter'),
  ]) {
    const exchange = await meet('messages', newModel('messages'), [refused, OK], sentMembers);
    expect([exchange.status, exchange.sent.length]).toEqual([400, 1]);
  }
});

test('a member sent to a host of the caller’s own format is never dropped', async () => {
  const model = newModel('messages');
  const refused = refusal("Unsupported parameter: 'temperature' is not supported with this model.", 'temperature');
  const exchange = await meet('chat', model, [refused, OK], { temperature: 0.3 });
  expect([exchange.status, exchange.sent.length, exchange.dropped]).toEqual([400, 1, null]);
});

test('the option by which we ask for usage is dropped, named and remembered on a route of one format', async () => {
  const model = newModel('messages');
  const refused = refusal('stream_options: Extra inputs are not permitted');
  const exchange = await meet('chat', model, [refused, OK], { stream: true });
  expect([exchange.status, exchange.dropped]).toEqual([200, 'stream_options.include_usage']);
  expect(exchange.sent.map((body) => body.stream_options === undefined)).toEqual([false, true]);
  expect((await meet('chat', model, null, { stream: true })).sent.length).toBe(1);
});
