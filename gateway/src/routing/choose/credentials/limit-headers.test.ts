/** Tests the reading of rate limits from the headers of providers. Source: provider reference, H. */
import { expect, test } from 'bun:test';
import { readAllowances } from './limit-headers.ts';

const UNIX = Date.parse('2026-11-22T10:00:00Z');

function read(headers: Record<string, string>) {
  return readAllowances(Object.entries(headers), 1_000, UNIX).map(({ counts, limit, remaining, fullAtMs }) => [
    counts,
    limit,
    remaining,
    fullAtMs - 1_000,
  ]);
}

test('OpenAI, Groq, Fireworks: spans', () => {
  expect(
    read({
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-tokens': '29000',
      'x-ratelimit-reset-tokens': '1h2m3.5s',
    }),
  ).toEqual([
    ['requests', 500, 499, 120],
    ['tokens', 30_000, 29_000, 3_723_500],
  ]);
});

test('Azure: seconds; xAI and Mistral: no reset, so a minute', () => {
  const azure = { 'x-ratelimit-limit-tokens': '10', 'x-ratelimit-remaining-tokens': '0' };
  expect(read({ ...azure, 'x-ratelimit-reset-tokens': '2146' })).toEqual([['tokens', 10, 0, 2_146_000]]);
  expect(read(azure)).toEqual([['tokens', 10, 0, 60_000]]);
  expect(read({ 'x-ratelimit-limit-req-minute': '6', 'x-ratelimit-remaining-req-minute': '5' })).toEqual([
    ['requests', 6, 5, 60_000],
  ]);
});

test('Anthropic: dates; one in the past is a full limit', () => {
  const limits = { 'anthropic-ratelimit-tokens-limit': '100', 'anthropic-ratelimit-tokens-remaining': '40' };
  expect(read({ ...limits, 'anthropic-ratelimit-tokens-reset': '2026-11-22T10:00:30Z' })).toEqual([
    ['tokens', 100, 40, 30_000],
  ]);
  expect(read({ ...limits, 'anthropic-ratelimit-tokens-reset': '1970-01-01T00:00:00Z' })).toEqual([
    ['tokens', 100, 40, 0],
  ]);
  expect(
    read({ 'anthropic-ratelimit-output-tokens-limit': '9', 'anthropic-ratelimit-output-tokens-remaining': '1' }),
  ).toEqual([]);
});

test('Cerebras, Together, GitHub: a day, no unit, a Unix time', () => {
  expect(read({ 'x-ratelimit-limit-requests-day': '9', 'x-ratelimit-remaining-requests-day': '8' })).toEqual([
    ['requests', 9, 8, 86_400_000],
  ]);
  const plain = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '3' };
  expect(read({ ...plain, 'x-ratelimit-reset': '1' })).toEqual([['requests', 10, 3, 1_000]]);
  expect(read({ ...plain, 'x-ratelimit-reset': String(UNIX / 1_000 + 5) })).toEqual([['requests', 10, 3, 5_000]]);
  expect(read({ ...plain, 'x-ratelimit-reset': String(UNIX + 5) })).toEqual([['requests', 10, 3, 5]]);
});

test('hostile and incomplete headers state nothing, a far reset a day at most', () => {
  const plain = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '3' };
  expect(read({ 'x-ratelimit-limit': '10' })).toEqual([]);
  for (const value of ['', '-1', '1e9', 'NaN', '0x10', '1'.repeat(16)]) {
    expect(read({ ...plain, 'x-ratelimit-remaining': value })).toEqual([]);
  }
  expect(read({ ...plain, 'x-ratelimit-limit': '0' })).toEqual([]);
  expect(read({ ...plain, 'x-ratelimit-reset': 'soon' })).toEqual([]);
  expect(read({ ...plain, 'x-ratelimit-reset': '99999d' })).toEqual([['requests', 10, 3, 86_400_000]]);
  expect(read({ ...plain, 'x-ratelimit-remaining': '30', 'x-ratelimit-reset': '' })).toEqual([]);
  expect(read({ ...plain, 'x-ratelimit-remaining': '30' })).toEqual([['requests', 10, 10, 60_000]]);
});
