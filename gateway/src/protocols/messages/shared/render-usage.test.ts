/** Tests usage.ts: from disjoint counters to the members of the format, and the estimate that they follow. */
import { expect, test } from 'bun:test';
import { type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { readUsage } from '../../chat/shared/usage.ts';
import { correctEstimate, renderDeltaUsage, renderEstimate } from './usage.ts';

test('vector 17: 900 cached and 50 written of a prompt of 1000 (bug: CLIProxyAPI #5956, writes not deducted)', () => {
  const chat = {
    prompt_tokens: 1000,
    completion_tokens: 5,
    prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
  };
  expect(renderDeltaUsage(readUsage(chat)?.usage ?? ZERO_USAGE)).toMatchObject({
    input_tokens: 50,
    cache_read_input_tokens: 900,
    cache_creation_input_tokens: 50,
    output_tokens: 5,
  });
});

test('searches and fetches have their member, other kinds and sound have none', () => {
  const rendered = (extras: Usage['extras']) =>
    renderDeltaUsage({ ...ZERO_USAGE, input: 9, ...(extras && { extras }) });
  expect(rendered({ audio_input: 4, server_tools: { web_search: 2, code_execution: 1 } })).toMatchObject({
    input_tokens: 9,
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
  });
  expect(rendered({ server_tools: { code_execution: 1 } })).toMatchObject({ server_tool_use: null });
  expect(rendered(undefined)).toMatchObject({ server_tool_use: null });
});

test('an estimate does not say how cache writes split', () => {
  expect(renderEstimate(9)).toMatchObject({
    input_tokens: 9,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
  });
});

test.each<[string, Partial<Usage>, number, Partial<Usage>]>([
  ['input that was counted stays', { input: 5, cache_read: 9 }, 9, { input: 5, cache_read: 9 }],
  ['vector 18b: a prompt that was all read from the cache', { cache_read: 1000 }, 9, { input: 1, cache_read: 999 }],
  ['a prompt that was all written for five minutes', { cache_write_5m: 8 }, 9, { input: 1, cache_write_5m: 7 }],
  ['a prompt that was all written for an hour', { cache_write_1h: 8 }, 9, { input: 1, cache_write_1h: 7 }],
  ['no prompt at all', {}, 9, { input: 0 }],
  ['no estimate to clear', { cache_read: 9 }, 0, { input: 0, cache_read: 9 }],
])('%s', (_, usage, estimate, expected) => {
  expect(correctEstimate({ ...ZERO_USAGE, ...usage }, estimate)).toEqual({ ...ZERO_USAGE, ...expected });
});
