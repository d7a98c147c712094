/** Tests stream-grammar.ts and observe-stream.ts: every rule of wire reference B.7 that one event can break. */
import { describe, expect, test } from 'bun:test';
import { readStep } from './observe-stream.ts';
import { fitsBlock, MessagesGrammar } from './stream-grammar.ts';

type Observed = readonly [type: string, members?: object];

/** The first violation among the events, given as upstream sends them. */
function violation(events: readonly Observed[]): string | null {
  const grammar = new MessagesGrammar();
  for (const [type, members] of events) {
    const found = grammar.check(readStep(type, { type, ...members }));
    if (found !== null) return found;
  }
  return null;
}

const start: Observed = ['message_start', { message: { content: [], stop_reason: null, usage: { output_tokens: 3 } } }];
const opens = (index: unknown, type = 'text'): Observed => ['content_block_start', { index, content_block: { type } }];
const adds = (index: unknown, type = 'text_delta'): Observed => ['content_block_delta', { index, delta: { type } }];
const stops = (index: unknown): Observed => ['content_block_stop', { index }];
const delta = (stop_reason: string | null, output_tokens: unknown = 9): Observed => [
  'message_delta',
  { delta: { stop_reason }, usage: { output_tokens } },
];
const end: Observed = ['message_stop'];
const ping: Observed = ['ping'];

test.each<[string, Observed[]]>([
  ['an empty answer', [start, delta('end_turn'), end]],
  [
    'pings anywhere before the end',
    [ping, start, ping, opens(0), ping, adds(0), stops(0), delta('end_turn'), ping, end],
  ],
  [
    'two blocks and a call',
    [start, opens(0), stops(0), opens(1, 'tool_use'), adds(1, 'input_json_delta'), stops(1), delta('tool_use'), end],
  ],
  ['a call cut off', [start, opens(0, 'tool_use'), stops(0), delta('max_tokens'), end]],
  [
    'server blocks and what is new',
    [
      start,
      opens(0, 'server_tool_use'),
      adds(0, 'input_json_delta'),
      stops(0),
      opens(1, 'new'),
      adds(1, 'text_delta'),
      adds(1, 'new_delta'),
      stops(1),
      ['new_event'],
      delta('pause_turn'),
      end,
    ],
  ],
  ['a later message_delta', [start, delta(null, 4), delta('end_turn', 4), end]],
  ['a message_delta without counters', [start, delta('end_turn', null), end]],
  [
    'an answer that goes on with a call in its start',
    [['message_start', { message: { content: [{ type: 'tool_use' }], stop_reason: 'tool_use' } }], end],
  ],
  ['an error at any time', [start, opens(0), ['error']]],
])('%s is in order', (_, events) => {
  expect(violation(events)).toBeNull();
});

describe('out of order is', () => {
  test.each<[string, string, Observed[]]>([
    ['I1', 'a second message_start', [start, start]],
    ['I1', 'content_block_start before message_start', [opens(0)]],
    ['I1', 'message_delta before message_start', [delta('end_turn')]],
    ['I1', 'message_stop before message_start', [end]],
    ['I2', 'content_block_start with index 1 where 0 is next', [start, opens(1)]],
    ['I2', 'content_block_start with index 0 where 1 is next', [start, opens(0), stops(0), opens(0)]],
    ['I2', 'content_block_start with index null where 0 is next', [start, opens('0')]],
    ['I2', 'content_block_delta outside of a block', [start, adds(0)]],
    ['I2', 'content_block_delta of block 1 while block 0 is open', [start, opens(0), adds(1)]],
    ['I2', 'content_block_stop outside of a block', [start, opens(0), stops(0), stops(0)]],
    ['I3', 'content_block_start while block 0 is open', [start, opens(0), opens(1)]],
    ['I4', 'input_json_delta in a block of type text', [start, opens(0), adds(0, 'input_json_delta')]],
    ['I4', 'thinking_delta in a block of type tool_use', [start, opens(0, 'tool_use'), adds(0, 'thinking_delta')]],
    ['B.7', 'message_delta while block 0 is open', [start, opens(0), delta('end_turn')]],
    ['B.7', 'message_stop while block 0 is open', [start, opens(0), end]],
    ['B.7', 'content_block_start after message_delta', [start, delta('end_turn'), opens(0)]],
    ['I7', 'message_stop without a stop_reason', [start, end]],
    ['I7', 'message_stop without a stop_reason', [start, delta('end_turn'), delta(null), end]],
    ['I8', 'stop_reason tool_use without a tool_use block', [start, delta('tool_use'), end]],
    [
      'I8',
      'stop_reason end_turn after a tool_use block',
      [start, opens(0, 'tool_use'), stops(0), delta('end_turn'), end],
    ],
    ['I9', 'output_tokens fell from 3 to 2', [start, delta('end_turn', 2)]],
    ['I9', 'output_tokens fell from 9 to 8', [start, delta('end_turn'), delta('end_turn', 8)]],
    ['I10', 'ping after the end of the message', [start, delta('end_turn'), end, ping]],
    ['I10', 'content_block_start after the end of the message', [start, ['error'], opens(0)]],
  ])('%s: %s', (_, expected, events) => {
    expect(violation(events)).toBe(expected);
  });

  test.each([
    ['I11', '', { type: 'ping' }, 'nothing for ping'],
    ['I11', 'ping', { type: 'message_stop' }, 'ping for message_stop'],
    ['I11', 'ping', {}, 'ping'],
    ['I12', '', null, 'nothing'],
  ])('%s: a record with the event line "%s" and the data %j', (_, eventLine, event, found) => {
    expect(new MessagesGrammar().check(readStep(eventLine, event))).toBe(
      `a record without an event line that names its event: ${found}`,
    );
  });
});

test('a delta fits its own blocks, and whatever is unknown', () => {
  expect(fitsBlock('mcp_tool_use', 'input_json_delta')).toBe(true);
  expect(fitsBlock('compaction', 'text_delta')).toBe(false);
  expect(fitsBlock('new_block', 'text_delta')).toBe(true);
  expect(fitsBlock('text', 'new_delta')).toBe(true);
});
