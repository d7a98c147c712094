/** Tests that messages events wrapped by Bedrock become the SSE of Anthropic: vector 37, failures, hostile chunks. */
import { describe, expect, test } from 'bun:test';
import { BEDROCK_MESSAGES } from './bedrock-messages.ts';
import { dataText, type FramingOutput, rawBytes, type Skim, type SkimmedRecords } from './framing.ts';
import { encodeChunk, encodeEvent, encodeException, encodeFrame } from './testing/encode-frame.ts';

const EMPTY = Buffer.from('000000100000000005c248eb7d98c8ff', 'hex');

function decode(parts: readonly Uint8Array[], skim: Skim | null = null) {
  const decoder = BEDROCK_MESSAGES.startDecoder(1_000_000, skim);
  const outputs: Array<FramingOutput | SkimmedRecords> = [];
  for (const part of parts) decoder.feed(part, (output) => outputs.push(output));
  return [...outputs, ...decoder.finish()];
}

/** The bytes that a client gets; a problem as its message. */
function forwarded(outputs: ReturnType<typeof decode>): string[] {
  return outputs.map((output) => {
    if (output.kind === 'problem') return `problem: ${output.message}`;
    return Buffer.from(output.bytes.subarray(output.start, output.end)).toString();
  });
}

describe('a chunk', () => {
  test('vector 37: becomes the event in it, and an empty frame is skipped', () => {
    const frame = encodeEvent('chunk', { bytes: 'eyJ0eXBlIjoicGluZyJ9', p: 'abc' });
    expect(frame.length).toBe(133);
    expect([frame.toString('hex', 8, 12), frame.toString('hex', 129)]).toEqual(['fd2a7893', '730336a1']);
    const outputs = decode([EMPTY, frame]);
    expect(forwarded(outputs)).toEqual(['event: ping\ndata: {"type":"ping"}\n\n']);
    const [record] = outputs;
    if (record?.kind !== 'event') throw new Error('no event');
    expect([record.event, dataText(record), rawBytes(record).length]).toEqual(['ping', '{"type":"ping"}', 35]);
  });

  test('keeps the bytes of its event: digits, order and spaces', () => {
    const event = '{"type":"content_block_delta", "delta":{"n":1.00,"a":1e400,"b":2,"b":3,"t":"\\u00e9 ü"}}';
    expect(forwarded(decode([encodeChunk(event)]))).toEqual([`event: content_block_delta\ndata: ${event}\n\n`]);
  });

  test('may name its type anywhere, and a type that is no word names no event', () => {
    expect(forwarded(decode([encodeChunk('{"index":0,"type":"content_block_stop"}')]))).toEqual([
      'event: content_block_stop\ndata: {"index":0,"type":"content_block_stop"}\n\n',
    ]);
    expect(forwarded(decode([encodeChunk('{"type":"a\\nevent: b"}')]))[0]).toStartWith('event: \n');
  });

  test('cannot begin another record by its line ends', () => {
    expect(forwarded(decode([encodeChunk('{"type":"ping"}\n\nevent: message_stop\r\rdata: {}\n\n')]))).toEqual([
      'event: ping\ndata: {"type":"ping"}  event: message_stop  data: {}  \n\n',
    ]);
  });

  test('that ends the message loses AWS’s own counters', () => {
    const metrics = { inputTokenCount: 1, outputTokenCount: 2, invocationLatency: 3, firstByteLatency: 4 };
    const stop = { type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics };
    expect(forwarded(decode([encodeChunk(stop)]))).toEqual(['event: message_stop\ndata: {"type":"message_stop"}\n\n']);
    const spoken = { type: 'content_block_delta', text: 'amazon-bedrock-invocationMetrics' };
    expect(forwarded(decode([encodeChunk(spoken)]))[0]).toContain('invocationMetrics');
  });

  test.each<readonly [string, object]>([
    ['no bytes', { p: 'abc' }],
    ['empty bytes', { bytes: '' }],
    ['bytes that are no text', { bytes: 7 }],
  ])('with %s is a problem, and nothing follows', (_, payload) => {
    expect(forwarded(decode([Buffer.concat([encodeEvent('chunk', payload), encodeChunk({ type: 'ping' })])]))).toEqual([
      'problem: a chunk of the event stream holds no event',
    ]);
  });

  test('is skimmed whole if the observer knows its bytes', () => {
    const seen: string[] = [];
    const skim: Skim = (bytes, start) => {
      seen.push(Buffer.from(bytes).toString());
      return bytes.includes(0x21) ? bytes.length : start;
    };
    const outputs = decode([encodeChunk({ type: 'a' }), encodeChunk({ type: 'b', text: '!' })], skim);
    expect(outputs.map(({ kind }) => kind)).toEqual(['event', 'skimmed']);
    expect(forwarded(outputs)).toEqual(seen);
  });
});

describe('a failure', () => {
  test.each<readonly [string, string]>([
    ['throttlingException', 'rate_limit_error'],
    ['serviceUnavailableException', 'api_error'],
    ['internalServerException', 'api_error'],
    ['modelStreamErrorException', 'api_error'],
    ['modelTimeoutException', 'timeout_error'],
    ['validationException', 'invalid_request_error'],
  ])('%s becomes an error event of type %s', (exception, type) => {
    expect(forwarded(decode([encodeException(exception, 'words')]))).toEqual([
      `event: error\ndata: {"type":"error","error":{"type":"${type}","message":"words"}}\n\n`,
    ]);
  });

  test('without a message has its name', () => {
    const headers = { ':message-type': 'exception', ':exception-type': 'oddException' };
    expect(forwarded(decode([encodeFrame(headers, '[]')]))[0]).toContain('"message":"oddException"');
    expect(forwarded(decode([encodeFrame(headers, 'not JSON')]))[0]).toContain('"message":"not JSON"');
  });
});

describe('a stream', () => {
  const SSE_TEXT = 'event: ping\ndata: {"type":"ping"}\n\n';

  test('that is SSE passes as it came', () => {
    expect(forwarded(decode([Buffer.from(SSE_TEXT.slice(0, 9)), Buffer.from(SSE_TEXT.slice(9))]))).toEqual([SSE_TEXT]);
    expect(BEDROCK_MESSAGES.lastRecordEnd(Buffer.from(`${SSE_TEXT}event`), 0, 40)).toBe(SSE_TEXT.length);
    expect(BEDROCK_MESSAGES.firstRecordEnd(Buffer.from(SSE_TEXT + SSE_TEXT), 0, 72)).toBe(SSE_TEXT.length);
  });

  test('of frames is cut between them', () => {
    const one = encodeChunk({ type: 'ping' });
    const bytes = Buffer.concat([one, one, one.subarray(0, 20)]);
    expect(BEDROCK_MESSAGES.lastRecordEnd(bytes, 0, bytes.length)).toBe(2 * one.length);
    expect(BEDROCK_MESSAGES.firstRecordEnd(bytes, 0, bytes.length)).toBe(one.length);
  });

  test('has an event of another type, which is skipped', () => {
    expect(decode([encodeEvent('initial-response', {}), encodeFrame({ ':message-type': 'odd' }, '')])).toEqual([]);
  });

  test('is recognized in both forms', () => {
    expect(BEDROCK_MESSAGES.isStream('text/event-stream; charset=utf-8')).toBe(true);
    expect(BEDROCK_MESSAGES.isStream('application/vnd.amazon.eventstream')).toBe(true);
    expect(BEDROCK_MESSAGES.beginsStream(Buffer.from([0]))).toBe(true);
    expect(BEDROCK_MESSAGES.beginsStream(Buffer.from('event'))).toBe(true);
    expect(BEDROCK_MESSAGES.beginsStream(Buffer.from('{'))).toBe(false);
  });
});
