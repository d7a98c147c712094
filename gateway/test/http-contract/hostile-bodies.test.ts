/** Tests random hostile bodies: every answer is one of the contract's, and the gateway keeps serving. */
import { beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SEED } from '../harness/exhaustive.ts';
import type { SharedPair } from '../harness/start-pair.ts';
import { goodBody, post, type Side } from './calls.ts';
import { shareContractPair } from './contract-config.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
const RUNS = EXHAUSTIVE ? 10_000 : 200;
const TIMEOUT_MS = EXHAUSTIVE ? 300_000 : 20_000;

let pair: SharedPair;
beforeAll(async () => {
  pair = await shareContractPair();
});

const side = fc.constantFrom<Side>('chat', 'messages');
const member = fc.constantFrom(
  ...['model', 'messages', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options', 'tools', 'tool_choice'],
  ...['system', 'metadata', 'user', 'temperature', 'top_p', 'response_format', 'stop', 'n', '__proto__', ''],
);

/** The fake upstream refuses some bodies that the gateway forwards, with 400 as a provider does. */
const STATUSES = { chat: [200, 400, 403], messages: [200, 400, 404] } as const;

async function expectContract(to: Side, body: string | Uint8Array): Promise<void> {
  const response = await post(pair.gateway, to, body);
  const text = await response.text();
  expect(STATUSES[to] as readonly number[]).toContain(response.status);
  expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
  if (response.status === 200) return;
  const parsed = JSON.parse(text) as { error: { type: string; message: string } };
  expect(parsed.error).toMatchObject({ type: expect.stringMatching(/_error$/), message: expect.stringMatching(/\S/) });
}

test(
  'any JSON in any member is served or refused in the words of the protocol',
  async () => {
    const cases = fc.record({
      to: side,
      members: fc.dictionary(member, fc.jsonValue({ maxDepth: 5 }), { maxKeys: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, ({ to, members }) => expectContract(to, JSON.stringify({ ...goodBody(to), ...members }))),
      { numRuns: RUNS, seed: SEED },
    );
  },
  TIMEOUT_MS,
);

test(
  'a good body with bytes changed, cut or put in is served or refused in the words of the protocol',
  async () => {
    const edit = fc.record({ at: fc.nat(), cut: fc.nat(6), put: fc.uint8Array({ maxLength: 4 }) });
    const cases = fc.record({ to: side, edits: fc.array(edit, { minLength: 1, maxLength: 3 }) });
    await fc.assert(
      fc.asyncProperty(cases, ({ to, edits }) => {
        let bytes = Buffer.from(JSON.stringify(goodBody(to, { metadata: { k: 'v' }, stream: false })));
        for (const { at, cut, put } of edits) {
          const from = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(from + cut)]);
        }
        return expectContract(to, bytes);
      }),
      { numRuns: RUNS, seed: SEED },
    );
  },
  TIMEOUT_MS,
);

test('the gateway serves on, and logged no fault of its own', async () => {
  for (const to of ['chat', 'messages'] as const) expect((await post(pair.gateway, to, goodBody(to))).status).toBe(200);
  expect(pair.gateway.stderr()).not.toMatch(/the gateway failed|could not be answered/);
  expect(pair.gateway.stdout()).not.toMatch(/the gateway failed|could not be answered/);
  console.log(`hostile bodies: ${2 * RUNS} sent`);
});
