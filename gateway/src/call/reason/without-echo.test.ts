/** Tests that a provider's message loses what it repeats of the request, and keeps what says what is wrong. */
import { describe, expect, test } from 'bun:test';
import { withoutEcho } from './without-echo.ts';

const PROMPT = 'My patient Möller, case ZX-9917-K, has a rare disease: what should I tell the family of him?';
const BODY = Buffer.from(
  JSON.stringify({
    model: 'gpt-5-mini',
    temperature: 3,
    messages: [
      { role: 'user', content: PROMPT },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_01', name: 'read_diary', input: { path: '/home/eve/diary.txt' } }],
      },
    ],
  }),
);
/** As Python's encoder writes it. */
const ASCII_BODY = Buffer.from(BODY.toString('utf8').replaceAll('ö', '\\u00f6'));
const NAMES = ['gpt-5-mini'];

describe('content of the request is removed', () => {
  test.each([
    ['a whole prompt', `Cannot process: ${PROMPT}`, 'Cannot process: […]'],
    ['a part of it in quotes', 'Invalid value: "a rare disease".', 'Invalid value: […].'],
    [
      'a part of it without quotes',
      'Blocked because what should I tell the family is unsafe',
      'Blocked because […] is unsafe',
    ],
    ['a single name', 'Refused to speak about Möller', 'Refused to speak about […]'],
    ['a number of a case', 'ZX-9917-K is not allowed', '[…] is not allowed'],
    ['a tool and its arguments', "Tool 'read_diary' got '/home/eve/diary.txt'", 'Tool […] got […]'],
    [
      'an id',
      'tool_use ids were found without tool_result blocks: toolu_01.',
      'tool_use ids were found without tool_result blocks: […]',
    ],
  ])('%s', (_, message, expected) => {
    expect(withoutEcho(message, BODY, NAMES)).toBe(expected);
    expect(withoutEcho(message, ASCII_BODY, NAMES)).toBe(expected);
  });

  test('at every length of quotation from four words on', () => {
    const words = PROMPT.split(' ');
    for (let from = 0; from + 4 <= words.length; from++) {
      for (let to = from + 4; to <= words.length; to++) {
        const echoed = words.slice(from, to).join(' ');
        expect(withoutEcho(`it said ${echoed} and failed`, BODY, NAMES)).toBe('it said […] and failed');
      }
    }
  });
});

test.each([
  'Overloaded',
  "Unsupported parameter: 'temperature'",
  'temperature: 3 is greater than the maximum of 2',
  'The model `gpt-5-mini` does not exist',
  'messages.1.content.0: tool_use ids must have a tool_result',
  'Rate limit reached for gpt-5-mini in organization [redacted] on tokens per minute (TPM): Limit 30000, Used 29000',
  'no answer within 120000 ms',
])('keeps: %s', (message) => {
  expect(withoutEcho(message, BODY, NAMES)).toBe(message);
});

test('without the request, quotations of more than a name are removed', () => {
  expect(withoutEcho("the value 'my secret text' of 'temperature' isn't valid, it's too long", null)).toBe(
    "the value […] of 'temperature' isn't valid, it's too long",
  );
});

test('of a large request both ends are searched, and the time is bounded', () => {
  const large = Buffer.from(`{"messages":["AlphaSecret ${'x'.repeat(32 * 1024 * 1024)} OmegaSecret"]}`);
  const words = Array.from({ length: 60 }, (_, nth) => `Word-${nth}`).join(' ');
  expect(withoutEcho(`AlphaSecret OmegaSecret ${words}`, large)).toBe(`[…] ${words}`);
});
