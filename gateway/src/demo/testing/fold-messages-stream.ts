/** Checks a messages stream against the grammar and its twelve invariants, and folds it into one message. */
import { expect } from 'bun:test';

interface Block {
  readonly type: string;
  text?: string;
  thinking?: string;
  signature?: string;
  input?: unknown;
  readonly [member: string]: unknown;
}

interface Event {
  readonly type: string;
  readonly index?: number;
  readonly message?: { readonly usage: { readonly output_tokens: number }; readonly [member: string]: unknown };
  readonly content_block?: Block;
  readonly delta?: { readonly type?: string; readonly stop_reason?: string; readonly [member: string]: unknown };
  readonly usage?: { readonly output_tokens: number; readonly [member: string]: unknown };
}

const FITTING: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  input_json_delta: 'tool_use',
};

/** Throws a failed expectation, which names the invariant, if the stream violates one. Returns the whole message. */
export function foldMessagesStream(records: readonly string[]): Record<string, unknown> {
  const events = records.map(parseRecord);
  expect(events[0]?.type, 'I1 opens with message_start').toBe('message_start');
  expect(events.filter(({ type }) => type === 'message_start').length, 'I1 one message_start').toBe(1);
  expect(
    events.findIndex(({ type }) => type === 'message_stop'),
    'I10 nothing after message_stop',
  ).toBe(events.length - 1);
  const start = events[0]?.message;
  expect(start?.content).toEqual([]);
  expect(start?.stop_reason).toBeNull();
  const blocks: Block[] = [];
  let open = -1;
  let json = '';
  let end: Event | null = null;
  for (const event of events) {
    if (event.type === 'content_block_start') {
      expect(open, 'I3 one block at a time').toBe(-1);
      expect(event.index, 'I2 indices in order').toBe(blocks.length);
      expect(end, 'no block after message_delta').toBeNull();
      open = blocks.length;
      json = '';
      blocks.push({ type: '', ...event.content_block });
    } else if (event.type === 'content_block_delta') {
      expect(event.index, 'I2 delta of the open block').toBe(open);
      const block = blocks[open];
      expect(FITTING[event.delta?.type ?? ''], 'I4 delta fits its block').toBe(block?.type);
      json += applyDelta(block, event);
    } else if (event.type === 'content_block_stop') {
      expect(event.index, 'I2 stop of the open block').toBe(open);
      const block = blocks[open];
      if (block?.type === 'tool_use') block.input = JSON.parse(json);
      open = -1;
    } else if (event.type === 'message_delta') {
      expect(open, 'I3 all blocks closed').toBe(-1);
      end = event;
    } else expect(['message_start', 'message_stop', 'ping']).toContain(event.type);
  }
  checkWhole(blocks, end, start?.usage.output_tokens ?? 0);
  return { ...start, ...end?.delta, content: blocks, usage: { ...start?.usage, ...end?.usage } };
}

function parseRecord(record: string): Event {
  const match = /^event: (\w+)\ndata: ([^\n]+)\n\n$/.exec(record);
  expect(match, 'I11 event and data, I12 no [DONE]').not.toBeNull();
  const event: Event = JSON.parse(match?.[2] ?? '');
  expect(event.type).toBe(match?.[1] ?? '');
  return event;
}

/** Applies the delta; returns the JSON fragment that it adds. */
function applyDelta(block: Block | undefined, { delta }: Event): string {
  if (block === undefined || delta === undefined) return '';
  if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`;
  if (delta.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`;
  if (delta.type === 'signature_delta') block.signature = String(delta.signature);
  return delta.type === 'input_json_delta' ? String(delta.partial_json) : '';
}

function checkWhole(blocks: readonly Block[], end: Event | null, tokensAtStart: number): void {
  const types = blocks.map(({ type }) => type);
  const lastThinking = types.lastIndexOf('thinking');
  if (types.includes('tool_use'))
    expect(lastThinking, 'I5 thinking before the tool use').toBeLessThan(types.indexOf('tool_use'));
  for (const { type, input } of blocks) {
    if (type === 'tool_use') expect(input, 'I6 an object').toEqual(expect.objectContaining({}));
  }
  const reason = end?.delta?.stop_reason;
  expect(typeof reason, 'I7 stop_reason').toBe('string');
  if (reason !== 'max_tokens') expect(reason === 'tool_use', 'I8 tool_use').toBe(types.includes('tool_use'));
  expect(end?.usage?.output_tokens ?? -1, 'I9 output_tokens never decreases').toBeGreaterThanOrEqual(tokensAtStart);
}
