/**
 * Tests that a problem of the operator's own account at a provider is never the caller's 400, 404 or 429, and raises an
 * alarm in the log.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Answer, ask, endsInError, hasTerminal, PROTOCOLS, type ProtocolName, recordsById } from './calls.ts';
import { SHORT } from './translated-rig.ts';

/** A provider's error with a status that blames the caller. */
interface Trouble {
  readonly name: string;
  readonly upstream: ProtocolName;
  readonly status: number;
  readonly body: object;
  /** The record's error. */
  readonly error: 'upstream_credential' | 'upstream_misconfigured';
}

const openAi = (message: string, type: string, code: string | null, param: string | null = null) => ({
  error: { message, type, param, code },
});
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const INVALID = 'invalid_request_error';
const QUOTA = 'You exceeded your current quota, please check your plan and billing details.';

const refused = (name: string, upstream: ProtocolName, status: number, body: object): Trouble => ({
  name,
  upstream,
  status,
  body,
  error: 'upstream_credential',
});
const misconfigured = (name: string, upstream: ProtocolName, status: number, body: object): Trouble => ({
  ...refused(name, upstream, status, body),
  error: 'upstream_misconfigured',
});

const TROUBLES: readonly Trouble[] = [
  refused('a low credit balance', 'messages', 400, anthropic(INVALID, 'Your credit balance is too low to access it.')),
  refused(
    'a usage limit',
    'messages',
    400,
    anthropic(INVALID, 'You have reached your specified API usage limits. You will regain access on 2026-12-01.'),
  ),
  refused('a disabled organization', 'messages', 400, anthropic(INVALID, 'This organization has been disabled.')),
  refused('a bill', 'messages', 429, anthropic('billing_error', 'Please pay.')),
  refused('a billing hard limit', 'chat', 400, openAi('Billing hard limit', INVALID, 'billing_hard_limit_reached')),
  refused('a spent quota', 'chat', 429, openAi(QUOTA, 'insufficient_quota', 'insufficient_quota')),
  refused('a spent quota without a code', 'chat', 429, openAi(QUOTA, 'insufficient_quota', null)),
  refused('an invalid key told as 400', 'chat', 400, openAi('API key not valid. Please pass one.', 'INVALID', null)),
  refused('an expired key told as 400', 'chat', 400, openAi('API key expired. Please renew it.', 'INVALID', null)),
  refused('spent credits of a team', 'chat', 429, {
    code: 'Some resource has been exhausted',
    error: 'Your team 1a2b has either used all available credits or reached its monthly spending limit.',
  }),
  refused('an account in arrears', 'chat', 400, { code: 'Arrearage', message: 'Access denied' }),
  refused('a credential refused', 'chat', 403, openAi('forbidden', INVALID, null)),
  misconfigured('an unknown model', 'chat', 404, openAi('The model `x` does not exist', INVALID, 'model_not_found')),
  misconfigured('an unknown deployment', 'chat', 404, openAi('No such thing.', INVALID, 'DeploymentNotFound')),
  misconfigured('an unknown model', 'messages', 404, anthropic('not_found_error', 'model: claude-nowhere')),
];

const INNOCENT: readonly (readonly [name: string, upstream: ProtocolName, status: number, body: object])[] = [
  ['a rate limit', 'chat', 429, openAi('Rate limit reached for requests', 'requests', 'rate_limit_exceeded')],
  // Gemini uses these words for its limits per minute: https://ai.google.dev/gemini-api/docs/rate-limits (2026-11-22).
  ['a rate limit in the words of a quota', 'chat', 429, { error: { code: 429, message: QUOTA } }],
  ['a rate limit', 'messages', 429, anthropic('rate_limit_error', "This would exceed your organization's rate limit")],
  ['a bad request', 'chat', 400, openAi("Invalid 'messages[3]'.", INVALID, 'invalid_value', 'messages[3]')],
  [
    'a bad request that quotes our trouble',
    'chat',
    400,
    openAi("Invalid value: 'Your credit balance is too low. insufficient_quota'.", INVALID, 'invalid_value'),
  ],
  ['a bad request', 'messages', 400, anthropic(INVALID, 'messages.0.content: This organization has been disabled.')],
  ['an unknown file', 'messages', 404, anthropic('not_found_error', 'File not found: file_1')],
];

/** A provider whose account has trouble gets no further requests, so each meeting has a provider of its own. */
const MEETINGS = 130;
const modelOf = (upstream: ProtocolName, nth: number) => `by-${upstream}-${nth}`;
let met = 0;

let pair: Pair;
beforeAll(async () => {
  const names = (upstream: ProtocolName) => Array.from({ length: MEETINGS }, (_, nth) => modelOf(upstream, nth));
  pair = await startPair((url) => pointAt(url, { chat: names('chat'), messages: names('messages'), apart: true }));
});
afterAll(() => pair.stop());

function meet(client: ProtocolName, upstream: ProtocolName, scenario: Scenario, stream: boolean): Promise<Answer> {
  const model = modelOf(upstream, met);
  met += 1;
  pair.fake.script(model, scenario);
  return ask(pair.gateway, { protocol: client, model, stream });
}

function errorOf(client: ProtocolName, text: string): object {
  const last = text.trimEnd().split('\n\n').at(-1) ?? '';
  const json = last.replace(client === 'chat' ? /^data: / : /^event: error\ndata: /, '');
  return (JSON.parse(json) as { readonly error: object }).error;
}

const OURS = {
  chat: { type: 'api_error', code: 'internal_error' },
  messages: { type: 'api_error' },
} as const;

/** Returns the log line with the alarm of a call. */
function alarmOf({ requestId }: Answer): Promise<string> {
  return eventually('the alarm', async () =>
    pair.gateway
      .stderr()
      .split('\n')
      .find((line) => line.includes(requestId) && line.includes('"alarm":true')),
  );
}

describe.each([...PROTOCOLS])('a %s client', (client) => {
  test.concurrent.each(TROUBLES.map((trouble) => [trouble.name, trouble.upstream, trouble.status, trouble] as const))(
    '%s, told by a %s upstream as %d: 500 and an alarm, plain and streamed',
    async (_name, upstream, status, { body, error }) => {
      for (const stream of [false, true]) {
        const answer = await meet(client, upstream, { status, json: body }, stream);
        expect([stream, answer.status]).toEqual([stream, 500]);
        expect(errorOf(client, answer.text)).toMatchObject(OURS[client]);
        expect(answer.headers.get('retry-after')).toBeNull();
        expect(await alarmOf(answer)).toContain(`HTTP ${status}`);
        const record = (await recordsById(pair.gateway)).get(answer.requestId);
        expect([record?.status, record?.error]).toEqual([500, error]);
      }
    },
  );

  test.concurrent.each(INNOCENT)('%s of a %s upstream stays a %d', async (_name, upstream, status, json) => {
    for (const stream of [false, true]) {
      expect((await meet(client, upstream, { status, json }, stream)).status).toBe(status);
    }
  });

  test.concurrent.each([...PROTOCOLS])(
    'trouble in the middle of the stream of a %s upstream is told as a fault of ours',
    async (upstream) => {
      const said = SHORT[upstream].records.slice(0, 6);
      const last =
        upstream === 'chat'
          ? `data: ${JSON.stringify(openAi(QUOTA, 'insufficient_quota', 'insufficient_quota'))}\n\n`
          : `event: error\ndata: ${JSON.stringify(anthropic(INVALID, 'Your credit balance is too low to go on.'))}\n\n`;
      const answer = await meet(client, upstream, { records: [...said, last] }, true);
      expect([answer.status, endsInError(client, answer.text), hasTerminal(client, answer.text)]).toEqual([
        200,
        true,
        false,
      ]);
      expect(errorOf(client, answer.text)).toMatchObject(OURS[client]);
      expect(answer.text).not.toMatch(/quota|credit/);
      await alarmOf(answer);
      const record = (await recordsById(pair.gateway)).get(answer.requestId);
      expect([record?.error, record?.usage_source]).toEqual(['upstream_credential', 'partial']);
    },
  );

  test.concurrent.each([...PROTOCOLS])('trouble in a 200 of a %s upstream is 500 and an alarm', async (upstream) => {
    const json =
      upstream === 'chat'
        ? openAi(QUOTA, 'insufficient_quota', 'insufficient_quota')
        : anthropic(INVALID, 'This organization has been disabled.');
    for (const stream of [false, true]) {
      const answer = await meet(client, upstream, { status: 200, json }, stream);
      expect([stream, answer.status]).toEqual([stream, 500]);
      await alarmOf(answer);
    }
  });

  test.concurrent.each([...PROTOCOLS])(
    'a page where a %s upstream should be is our configuration: 500',
    async (upstream) => {
      for (const body of ['<html>404</html>', '404 page not found', '']) {
        const answer = await meet(
          client,
          upstream,
          { status: 404, body, headers: { 'content-type': 'text/html' } },
          false,
        );
        expect([body, answer.status]).toEqual([body, 500]);
        await alarmOf(answer);
      }
    },
  );
});

test.each([301, 307, 405])(
  'an address that answers %d is our configuration: one attempt, which is free',
  async (status) => {
    const headers = { location: 'https://elsewhere.example/v1/chat/completions' };
    const answer = await meet('chat', 'chat', { status, body: '', headers }, false);
    expect(answer.status).toBe(500);
    expect(await alarmOf(answer)).toContain(`HTTP ${status}: `);
    const record = (await recordsById(pair.gateway)).get(answer.requestId);
    expect(record?.error).toBe('upstream_misconfigured');
    expect(record?.attempts.map(({ class: found, billed }) => [found, billed])).toEqual([['config', undefined]]);
  },
);

test('the alarm of a request that no credential is left for says why', async () => {
  const refusal = { status: 401, json: openAi('Incorrect API key', INVALID, 'invalid_api_key') };
  const model = modelOf('chat', met);
  const first = await meet('chat', 'chat', refusal, false);
  expect(await alarmOf(first)).toContain('HTTP 401');
  const next = await ask(pair.gateway, { protocol: 'chat', model, stream: false });
  expect(next.status).toBe(500);
  expect(await alarmOf(next)).toContain("the providers of the model refuse this gateway's credentials");
});

test('retry-after of a rate limit is exact up to 60 seconds, else 60', async () => {
  for (const [reportedAs, shown] of [
    ['7', '7'],
    ['60', '60'],
    ['3600', '60'],
  ] as const) {
    const json = openAi('slow down', 'requests', 'rate_limit_exceeded');
    for (const client of PROTOCOLS) {
      const answer = await meet(client, 'chat', { status: 429, json, headers: { 'retry-after': reportedAs } }, false);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, shown]);
    }
  }
});
