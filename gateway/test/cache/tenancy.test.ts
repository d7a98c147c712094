/**
 * Tests that no answer of the cache crosses tenants: thousands of requests of many workspaces that differ in as little
 * as possible, or not at all.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { SEED } from '../harness/exhaustive.ts';
import type { Pair } from '../harness/start-pair.ts';
import { createKey } from '../http-contract/make-key.ts';
import { ask, FORMATS, type Format, newTenant, startCachePair, type Tenant } from './cache-rig.ts';

const ATTEMPTS = EXHAUSTIVE ? 10_000 : 300;
const CONCURRENCY = 12;

let pair: Pair;
let callers: Tenant[];

beforeAll(async () => {
  pair = await startCachePair();
  const tenants: Tenant[] = [];
  for (let account = 0; account < 3; account++) {
    const first = await newTenant(pair.gateway);
    // Two workspaces of one account, one that asks by header, one whose cache is off.
    const given = [{ cache: 'all' }, { cache: 'request' }, {}];
    tenants.push(first);
    for (const one of given) tenants.push(await newTenant(pair.gateway, one, first.account));
  }
  callers = [];
  for (const tenant of tenants) {
    const second = await createKey(pair.gateway, { workspace: tenant.workspace });
    callers.push(tenant, { ...tenant, key: second.key, keyId: second.id });
  }
});
afterAll(() => pair.stop());

/** Mulberry32, for the same attempts at every run of a seed. */
function drawFrom(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count;
  };
}

const TEXTS = ['Good day.', 'Good day. ', 'good day.', '{"workspace":"workspace-1"}', 'tg_0'];
const MEMBERS: readonly object[] = [{}, {}, { temperature: 0 }, { temperature: 0.0001 }, { top_p: 0.5 }];
/** How each format names an end user. */
const USERS = {
  chat: { user: 'a' },
  messages: { metadata: { user_id: 'a' } },
  responses: { safety_identifier: 'a' },
} as const;
const HEADERS: readonly Record<string, string>[] = [
  {},
  {},
  { 'anthropic-beta': 'a-2025-01-01' },
  { 'openai-beta': 'a=v1' },
  { 'x-tollgate-cache': 'on' },
  { 'x-tollgate-cache': 'refresh' },
  // What a stranger might hope to be read.
  { 'x-tollgate-workspace': 'workspace-1' },
  { 'x-tollgate-account': 'account-1', 'x-tollgate-cached-request-id': 'req_0' },
];
const NAMED_BY = /^(?:anthropic|openai|x-tollgate)-/;

/** The same members in another order, with other spaces, or with an escape that means the same. */
function writeBody(body: object, form: number): string {
  const plain = JSON.stringify(body);
  if (form === 1) return JSON.stringify(Object.fromEntries(Object.entries(body).toReversed()));
  if (form === 2) return JSON.stringify(body, null, 1);
  if (form === 3) return plain.replace('Good', '\\u0047ood');
  return plain;
}

test(`no answer crosses tenants, or requests, in ${ATTEMPTS} attempts (seed ${SEED})`, async () => {
  const draw = drawFrom(SEED);
  /** What each request asked for, by its id. */
  const asked = new Map<string, { readonly workspace: string; readonly request: string; readonly text: string }>();
  let hits = 0;
  let attempts = 0;

  /** Every workspace sends the same few requests, which differ in as little as possible. */
  const requests = Array.from({ length: EXHAUSTIVE ? 150 : 24 }, () => {
    const format = (['chat', 'messages', 'responses'] as const)[draw(3)] as Format;
    const side = ['c', 'm', 'r'][draw(3)];
    const { path, body } = FORMATS[format];
    const members = { ...MEMBERS[draw(MEMBERS.length)], ...(draw(4) === 0 && USERS[format]) };
    const whole = { ...body(`${side}-echo`, TEXTS[draw(TEXTS.length)] as string), ...members };
    return { path, sent: writeBody(draw(3) === 0 ? { ...whole, stream: true } : whole, draw(8)) };
  });

  async function attempt(): Promise<void> {
    const caller = callers[draw(callers.length)] as Tenant;
    const { path, sent } = requests[draw(requests.length)] as (typeof requests)[number];
    const headers = HEADERS[draw(HEADERS.length)] as Record<string, string>;
    const named = Object.entries(headers).filter(([name]) => NAMED_BY.test(name) && name !== 'x-tollgate-cache');
    const request = JSON.stringify([path, sent, named]);
    const got = await ask(caller, path, sent, headers);
    if (got.status !== 200) throw new Error(`${got.status}: ${got.text}`);
    const origin = got.headers.get('x-tollgate-cached-request-id');
    expect(origin !== null).toBe(got.cache === 'hit');
    asked.set(got.requestId, { workspace: caller.workspace, request, text: got.text });
    if (origin === null) return;
    hits += 1;
    expect(asked.get(origin)).toEqual({ workspace: caller.workspace, request, text: got.text });
  }

  async function run(): Promise<void> {
    while (attempts < ATTEMPTS) {
      attempts += 1;
      await attempt();
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, run));
  // A cache without hits would pass.
  expect(hits).toBeGreaterThan(ATTEMPTS / 50);
}, 300_000);
