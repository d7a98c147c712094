/** Tests which agents get other words for a spent budget, and that all others get those of their format. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../errors/call-failure.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import { withAgentStatus } from './agent-stops.ts';
import { failureReply } from './reply.ts';

const reason = { kind: 'budget_spent', resets_at: '2026-11-24T00:00:00.000Z' } as const;
const SPENT = new CallFailure('quota_exceeded', 'insufficient quota: it doesn’t cover 日 this', { reason });
const CODEX = 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) unknown';

async function told(failure: CallFailure, userAgent: string | null, protocol: 'responses' | 'chat' = 'responses') {
  const reply = failureReply(failure, CLIENT_PROTOCOLS[protocol], 'req_1', null, userAgent);
  const { error } = (await reply.json()) as { readonly error: object };
  return { status: reply.status, shown: reply.headers.get('x-codex-promo-message'), error };
}

describe('a spent budget', () => {
  test.each([CODEX, 'Codex Desktop/1.0'])('tells %s in its own form, with the time of the reset', async (userAgent) => {
    expect(await told(SPENT, userAgent)).toEqual({
      status: 429,
      shown: "insufficient quota: it doesn't cover ? this",
      error: {
        message: SPENT.message,
        type: 'usage_limit_reached',
        code: 'insufficient_quota',
        param: null,
        resets_at: Date.parse(reason.resets_at) / 1_000,
      },
    });
  });

  test('without a reset names none', async () => {
    const { error } = await told(new CallFailure('quota_exceeded', 'empty'), CODEX);
    expect(Object.keys(error)).not.toContain('resets_at');
  });

  test.each([null, 'OpenAI/JS 7.57.0', 'my-codex/1'])('tells %p in the words of the format', async (userAgent) => {
    expect(await told(SPENT, userAgent)).toMatchObject({
      status: 429,
      shown: null,
      error: { type: 'insufficient_quota', code: 'insufficient_quota' },
    });
  });
});

describe('agents that take every 429 for a rate limit', () => {
  const OPENCODE = 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14';
  const AGENTS = [OPENCODE, 'QwenCode/0.15.10 (linux; x64)'];
  const statusFor = (userAgent: string, protocol: ClientProtocol, failure = SPENT) =>
    protocol.statusOf(
      withAgentStatus({ request: { headers: new Headers({ 'user-agent': userAgent }) }, protocol }, failure),
    );

  test.each(AGENTS)('%s gets 402 for a spent budget in every format', (userAgent) => {
    for (const protocol of Object.values(CLIENT_PROTOCOLS))
      expect([protocol.name, statusFor(userAgent, protocol)]).toEqual([protocol.name, 402]);
  });

  test('no word of the body makes OpenCode ask again', async () => {
    for (const protocol of Object.values(CLIENT_PROTOCOLS)) {
      const call = { request: { headers: new Headers({ 'user-agent': OPENCODE }) }, protocol };
      const reply = failureReply(withAgentStatus(call, SPENT), protocol, 'req_429_500', null, OPENCODE);
      expect([reply.status, reply.headers.get('request-id')]).toEqual([402, 'req_429_500']);
      // Its own patterns (1.18.33), as far as they can match here.
      expect(await reply.text()).not.toMatch(
        /429|50[0234]|rate.?limit|too many requests|exhausted|unavailable|try again/i,
      );
    }
  });

  test('others get 429', () => {
    for (const userAgent of [
      CODEX,
      'claude-cli/2.1.329 (external, sdk-cli)',
      'GeminiCLI-tui/0.61.0/demo',
      'my-opencode/1',
    ])
      expect([userAgent, statusFor(userAgent, CLIENT_PROTOCOLS.chat)]).toEqual([userAgent, 429]);
  });

  test('a rate limit stays 429', () => {
    for (const userAgent of AGENTS)
      expect(statusFor(userAgent, CLIENT_PROTOCOLS.chat, new CallFailure('rate_limited', 'slow down'))).toBe(429);
  });
});

test('other failures and other formats keep their words', async () => {
  expect(await told(new CallFailure('rate_limited', 'slow down'), CODEX)).toMatchObject({
    shown: null,
    error: { code: 'rate_limit_exceeded' },
  });
  expect(await told(SPENT, CODEX, 'chat')).toMatchObject({ shown: null, error: { type: 'insufficient_quota' } });
});
