/** Tests the rate-limit headers of each host that sends any. Source: provider reference, H. */
import { expect, test } from 'bun:test';
import { findPreset } from '../../../src/providers/presets/presets.ts';
import { readAllowances } from '../../../src/routing/choose/credentials/limit-headers.ts';

const UNIX = Date.parse('2026-11-22T10:00:00Z');
type Read = readonly [counts: 'requests' | 'tokens', limit: number, remaining: number, leftMs: number];

/** `limit`, `remaining` and perhaps `reset` of a unit, as `x-ratelimit-limit-requests`. */
function common(unit: string, limit: number, remaining: number, reset?: string): Record<string, string> {
  const end = unit === '' ? '' : `-${unit}`;
  return {
    [`x-ratelimit-limit${end}`]: String(limit),
    [`x-ratelimit-remaining${end}`]: String(remaining),
    ...(reset === undefined ? {} : { [`x-ratelimit-reset${end}`]: reset }),
  };
}

function anthropic(unit: string, limit: number, remaining: number, reset: string): Record<string, string> {
  const of = (member: string) => `anthropic-ratelimit-${unit}-${member}`;
  return { [of('limit')]: String(limit), [of('remaining')]: String(remaining), [of('reset')]: reset };
}

const FAMILIES: ReadonlyArray<readonly [preset: string, Record<string, string>, readonly Read[]]> = [
  ['openai', common('requests', 500, 499, '120ms'), [['requests', 500, 499, 120]]],
  ['openai', common('tokens', 30_000, 10, '14m24s'), [['tokens', 30_000, 10, 864_000]]],
  ['groq', common('requests', 14_400, 14_399, '6s'), [['requests', 14_400, 14_399, 6_000]]],
  ['groq', common('tokens', 6_000, 5_843, '1.57s'), [['tokens', 6_000, 5_843, 1_570]]],
  ['fireworks', common('requests', 600, 1, '1h2m3.4s'), [['requests', 600, 1, 3_723_400]]],
  ['xai', common('requests', 480, 479), [['requests', 480, 479, 60_000]]],
  [
    'github-models',
    { ...common('requests', 50, 3), 'x-ratelimit-renewalperiod-requests': '10' },
    [['requests', 50, 3, 10_000]],
  ],
  ['github-models', common('', 50, 3, String(UNIX / 1_000 + 5)), [['requests', 50, 3, 5_000]]],
  ['cerebras', common('requests-day', 14_400, 100, '33011.382867'), [['requests', 14_400, 100, 33_011_382.867]]],
  ['cerebras', common('tokens-minute', 60_000, 9, '11.38'), [['tokens', 60_000, 9, 11_380]]],
  ['mistral', common('req-minute', 6, 5), [['requests', 6, 5, 60_000]]],
  ['mistral', common('tokens-minute', 500_000, 1), [['tokens', 500_000, 1, 60_000]]],
  ['mistral', common('tokens-month', 1_000_000_000, 1), []],
  ['together', common('', 10, 3, '1'), [['requests', 10, 3, 1_000]]],
  ['openrouter', common('', 20, 0, String(UNIX + 7_000)), [['requests', 20, 0, 7_000]]],
  ['anthropic', anthropic('requests', 50, 49, '2026-11-22T10:00:30Z'), [['requests', 50, 49, 30_000]]],
  ['anthropic', anthropic('input-tokens', 900, 9, '2026-11-22T10:01:00Z'), [['tokens', 900, 9, 60_000]]],
  ['anthropic', anthropic('tokens', 900, 9, '1970-01-01T00:00:00Z'), [['tokens', 900, 9, 0]]],
  ['anthropic', anthropic('output-tokens', 9, 1, '2026-11-22T10:01:00Z'), []],
  ['gemini', { 'server-timing': 'gfet4t7; dur=120' }, []],
  ['vllm', {}, []],
];

test.each(FAMILIES)('%s: %j', (preset, headers, read) => {
  expect(findPreset(preset)).toBeDefined();
  const found = readAllowances(Object.entries(headers), 1_000, UNIX);
  expect(found.map(({ counts, limit, remaining, fullAtMs }) => [counts, limit, remaining, fullAtMs - 1_000])).toEqual(
    read.map((one) => [...one]),
  );
});
