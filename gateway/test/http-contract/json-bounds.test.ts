/** Tests the JSON limits of a body: each at limit − 1, limit, limit + 1. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, type SharedPair, startPair } from '../harness/start-pair.ts';
import { goodBody, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels, shareContractPair } from './contract-config.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const SMALL = {
  json_depth_max: 8,
  json_keys_max: 12,
  messages_max: 3,
  parts_max: 4,
  tools_max: 2,
  model_name_max: 10,
  metadata_key_max: 5,
  metadata_value_max: 6,
};

let pair: SharedPair;
let small: Pair;
beforeAll(async () => {
  [pair, small] = await Promise.all([shareContractPair(), startPair((url) => contractConfig(url, { limits: SMALL }))]);
  scriptContractModels(small.fake);
});
afterAll(() => small.stop());

const TURN = { role: 'user', content: 'x' };
const repeat = <Thing>(count: number, thing: Thing): Thing[] => Array<Thing>(count).fill(thing);

/** Renders a body that is exactly at the limit when `count` equals the limit. */
type Build = (side: Side, count: number) => string;

const withMembers = (side: Side, members: Readonly<Record<string, unknown>>) => JSON.stringify(goodBody(side, members));

/** `odd: {…}` is itself two levels deep with one object in it; the body is the first level. */
const nested: Build = (side, depth) => {
  const inner = `${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}`;
  return withMembers(side, { odd: 0 }).replace('"odd":0', `"odd":${inner}`);
};

const keys: Build = (side, count) => {
  const members = Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',');
  return withMembers(side, { odd: 0 }).replace('"odd":0', `"odd":{${members}}`);
};

const messages: Build = (side, count) => withMembers(side, { messages: repeat(count, TURN) });
const parts: Build = (side, count) =>
  withMembers(side, { messages: [{ role: 'user', content: repeat(count, { type: 'text', text: 'x' }) }] });
const tools: Build = (side, count) => withMembers(side, { tools: repeat(count, { name: 'f', type: 'custom' }) });
const metadataKey: Build = (side, chars) => withMembers(side, { metadata: { ['k'.repeat(chars)]: 'v' } });
const metadataValue: Build = (side, chars) => withMembers(side, { metadata: { k: 'v'.repeat(chars) } });

/** `says` is the text that the refusal must name in addition to the limit. */
const BOUNDS: ReadonlyArray<readonly [name: keyof typeof SMALL, most: number, build: Build, says: string]> = [
  ['json_depth_max', 64, nested, 'odd'],
  ['json_keys_max', 10_000, keys, 'odd'],
  ['messages_max', 100_000, messages, 'messages'],
  ['parts_max', 1_000, parts, 'messages.0.content'],
  ['tools_max', 1_000, tools, 'tools'],
  ['metadata_key_max', 64, metadataKey, 'metadata'],
  ['metadata_value_max', 512, metadataValue, 'metadata.k'],
];

async function expectBound(at: SharedPair, side: Side, most: number, build: Build, says: string): Promise<void> {
  expect((await post(at.gateway, side, build(side, most - 1))).status).toBe(200);
  expect((await post(at.gateway, side, build(side, most))).status).toBe(200);
  const refusal = invalid(side, new RegExp(`${says.replaceAll('.', '\\.')}.*\\b${most}\\b`));
  await expectRefusal(await post(at.gateway, side, build(side, most + 1)), side, refusal);
}

describe('limit − 1 and limit are taken, limit + 1 is 400', () => {
  for (const side of SIDES) {
    for (const [name, most, build, says] of BOUNDS) {
      test(`${side}: ${name} is ${most} by default`, () => expectBound(pair, side, most, build, says));
      test(`${side}: ${name} set to ${SMALL[name]}`, () => expectBound(small, side, SMALL[name], build, says));
    }
  }

  test('chat: the name of an end user, by default and as set', async () => {
    const user: Build = (side, chars) => withMembers(side, { user: 'u'.repeat(chars) });
    await expectBound(pair, 'chat', 256, user, 'user');
    await expectBound(small, 'chat', SMALL.model_name_max, user, 'user');
  });

  for (const side of SIDES) {
    test(`${side}: the name of a model: at the limit it is looked for, above it refused`, async () => {
      for (const [at, most] of [
        [pair, 256],
        [small, SMALL.model_name_max],
      ] as const) {
        const ask = (chars: number) => post(at.gateway, side, withMembers(side, { model: 'm'.repeat(chars) }));
        const unknown = side === 'chat' ? 403 : 404;
        expect((await ask(most - 1)).status).toBe(unknown);
        expect((await ask(most)).status).toBe(unknown);
        await expectRefusal(await ask(most + 1), side, invalid(side, `${most} characters`));
      }
    });
  }
});

describe('duplicate keys', () => {
  const rows: ReadonlyArray<readonly [what: string, body: (good: string) => string, says: string]> = [
    ['at the top', (good) => good.replace('{', '{"model":"ok",'), 'model'],
    ['at the top, one of them escaped', (good) => good.replace('{', '{"mod\\u0065l":"ok",'), 'model'],
    ['within a message', (good) => good.replace('{"role":"user"', '{"role":"system","role":"user"'), 'role'],
    ['deep in an unknown member', (good) => good.replace('{', '{"odd":[{"a":{"b":1,"b":2}}],'), 'b'],
    ['__proto__ twice', (good) => good.replace('{', '{"__proto__":{},"__proto__":{},'), '__proto__'],
  ];
  for (const side of SIDES) {
    for (const [what, change, says] of rows) {
      test(`${side}: ${what}: 400`, async () => {
        const response = await post(pair.gateway, side, change(withMembers(side, {})));
        await expectRefusal(response, side, invalid(side, new RegExp(`JSON.*${says}`)));
      });
    }
  }
});

describe('names that JavaScript reads something into', () => {
  for (const side of SIDES) {
    test(`${side}: __proto__, constructor and the like are members as any other, and go upstream as they came`, async () => {
      const odd =
        '"__proto__":{"model":"other","stream":true},"constructor":{"prototype":{"x":1}},"toString":1,"hasOwnProperty":null';
      const body = withMembers(side, {}).replace('{', `{${odd},`);
      const response = await post(pair.gateway, side, body);
      expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
        status: 200,
        type: 'application/json',
      });
      expect(Buffer.from(pair.fake.served().at(-1)?.requestBody ?? []).toString()).toBe(body);
    });

    test(`${side}: a model or a messages member only in __proto__ is no such member`, async () => {
      const body = withMembers(side, { model: undefined }).replace('{', '{"__proto__":{"model":"ok"},');
      await expectRefusal(await post(pair.gateway, side, body), side, invalid(side, 'model: found nothing'));
    });
  }
});

describe('a body that is not JSON is 400 with the position', () => {
  const good = JSON.stringify(goodBody('chat'));
  const rows: ReadonlyArray<readonly [what: string, body: string | Uint8Array]> = [
    ['nothing but spaces', ' \n\t '],
    ['a byte order mark', `\ufeff${good}`],
    ['cut in the middle', good.slice(0, -10)],
    ['something after it', `${good}{}`],
    ['a comment', good.replace('{', '{/* hello */')],
    ['a trailing comma', good.replace(/}$/, ',}')],
    ['single quotes', good.replaceAll('"', "'")],
    ['NaN', good.replace('{', '{"temperature":NaN,')],
    ['a number with a leading zero', good.replace('{', '{"temperature":01,')],
    ['a raw control character in a text', good.replace('Good', 'Go\u0001od')],
    ['an unknown escape', good.replace('Good', '\\x41')],
    ['a cut surrogate escape', good.replace('Good', '\\u12')],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from(good.slice(0, 60)), Buffer.of(0xff, 0xfe), Buffer.from(good.slice(60))]),
    ],
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['an unquoted word', good.replace('"ok"', 'ok')],
    ['depth two million', '['.repeat(2_000_000)],
    ['depth two million, closed', `${'['.repeat(2_000_000)}${']'.repeat(2_000_000)}`],
  ];
  for (const [what, body] of rows) {
    test(what, async () => {
      const response = await post(pair.gateway, 'chat', body);
      await expectRefusal(response, 'chat', invalid('chat', /JSON.*line \d+, column \d+/, null));
    });
  }

  test('numbers that JavaScript cannot hold and lone surrogate escapes pass upstream untouched', async () => {
    const body = good.replace('{', '{"seed":9007199254740993,"odd":[1e400,-0.0,1E+2,"\\ud800","\\u0000"],');
    expect((await post(pair.gateway, 'chat', body)).status).toBe(200);
    expect(Buffer.from(pair.fake.served().at(-1)?.requestBody ?? []).toString()).toBe(body);
  });
});
