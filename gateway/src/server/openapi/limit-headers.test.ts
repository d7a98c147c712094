/**
 * Tests that the document names exactly the headers that a caller gets about their limits, in the format that they
 * have.
 */
import { describe, expect, test } from 'bun:test';
import { limitHeaders } from '../../call/deliver/reply.ts';
import { CLIENT_PROTOCOLS } from '../../protocols/registry.ts';
import { renderOpenapi } from './openapi-document.ts';

const document = JSON.parse(String(await renderOpenapi('https://gw.example', false)));
const NOW_MS = Date.UTC(2026, 10, 20);
const HEADER = /ratelimit/;

describe.each([
  [
    'chat',
    '/v1/chat/completions',
    ['requests', 'tokens'].flatMap((sort) =>
      ['limit', 'remaining', 'reset'].map((member) => `x-ratelimit-${member}-${sort}`),
    ),
  ],
  [
    'messages',
    '/v1/messages',
    ['requests', 'tokens'].flatMap((sort) =>
      ['limit', 'remaining', 'reset'].map((member) => `anthropic-ratelimit-${sort}-${member}`),
    ),
  ],
] as const)('%s', (protocol, path, names) => {
  test.each(['200', '429'])('has them on %s', (status) => {
    const declared = Object.keys(document.paths[path].post.responses[status].headers);
    expect(declared.filter((name) => HEADER.test(name)).sort()).toEqual([...names].sort());
  });

  test.each([0, 120, 59_000, 360_000, 7_260_000])(
    'and what is sent %d ms before a reset fits what they say',
    (spanMs) => {
      const left = { limit: 5, remaining: 0, resetMs: NOW_MS + spanMs };
      const sent = limitHeaders({ requests: left, tokens: left }, CLIENT_PROTOCOLS[protocol], NOW_MS, NOW_MS);
      expect(Object.keys(sent).sort()).toEqual([...names].sort());
      for (const [name, value] of Object.entries(sent)) {
        const { schema } = document.components.headers[name];
        if (schema.pattern !== undefined) expect(value).toMatch(new RegExp(schema.pattern));
        else if (schema.format === 'date-time')
          expect(new Date(value).getTime()).toBe(NOW_MS + Math.ceil(spanMs / 1_000) * 1_000);
        else expect(Number(value)).toBeGreaterThanOrEqual(schema.minimum);
      }
    },
  );
});

test.each(['200', '429'])(
  'a count of tokens is weighed against limits of requests alone, and has those on %s',
  (status) => {
    const declared = Object.keys(document.paths['/v1/messages/count_tokens'].post.responses[status].headers);
    expect(declared.filter((name) => HEADER.test(name)).sort()).toEqual([
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-requests-remaining',
      'anthropic-ratelimit-requests-reset',
    ]);
  },
);
