/** Tests that only a complete, right answer passes the check, and that its problem names what was found. */
import { describe, expect, test } from 'bun:test';
import type { Protocol } from '../protocol.ts';
import { STREAM_EVENTS } from '../upstream/answer-content.ts';
import { CHAT_REPLIES } from '../upstream/chat-replies.ts';
import { MESSAGES_REPLIES } from '../upstream/messages-replies.ts';
import { RESPONSES_REPLIES } from '../upstream/responses-replies.ts';
import { createAnswerCheck } from './answer-check.ts';
import type { ExpectedAnswer } from './load-plan.ts';

const REPLIES = { chat: CHAT_REPLIES, messages: MESSAGES_REPLIES, responses: RESPONSES_REPLIES };
const PROTOCOLS = ['chat', 'messages', 'responses'] as const;

function json(protocol: Protocol): ExpectedAnswer {
  return { protocol, kind: 'json' };
}

function stream(protocol: Protocol, events: number): ExpectedAnswer {
  return { protocol, kind: 'stream', events };
}

function problem(expect: ExpectedAnswer, status: number, ...pieces: readonly (string | Buffer)[]): string | null {
  const check = createAnswerCheck(
    expect,
    () => {},
    () => {},
  );
  for (const piece of pieces) check.onBody(Buffer.from(piece));
  return check.problem(status);
}

describe('the check of an answer in one piece', () => {
  test.each(PROTOCOLS)('passes the upstream’s own %s JSON in any pieces', (protocol) => {
    const { plain } = REPLIES[protocol];
    const body = plain.subarray(plain.indexOf('\r\n\r\n') + 4);
    expect(problem(json(protocol), 200, body.subarray(0, 99), body.subarray(99))).toBeNull();
  });

  test.each(PROTOCOLS)('fails JSON of the other formats where %s is expected', (protocol) => {
    for (const other of PROTOCOLS) {
      if (other === protocol) continue;
      const { plain } = REPLIES[other];
      expect(problem(json(protocol), 200, plain.subarray(plain.indexOf('\r\n\r\n') + 4))).toContain('found undefined');
    }
  });

  test('fails chat JSON that is cut, not finished, or counted wrong', () => {
    const finished = '"choices":[{"finish_reason":"stop"}]';
    expect(problem(json('chat'), 200, '{"choices":[')).toContain('not JSON');
    expect(problem(json('chat'), 200, '{"choices":[]}')).toContain('finish_reason: found undefined, expected "stop"');
    expect(problem(json('chat'), 200, `{${finished},"usage":{"total_tokens":1}}`)).toBe(
      'usage.total_tokens: found 1, expected 123',
    );
  });

  test('fails messages JSON that is cut, not finished, or counted wrong', () => {
    const finished = '"stop_reason":"end_turn"';
    expect(problem(json('messages'), 200, '{"type":')).toContain('not JSON');
    expect(problem(json('messages'), 200, '{"stop_reason":null}')).toBe('stop_reason: found null, expected "end_turn"');
    expect(problem(json('messages'), 200, `{${finished},"usage":{"input_tokens":123,"output_tokens":99}}`)).toBe(
      'usage.input_tokens: found 123, expected 24',
    );
    expect(problem(json('messages'), 200, `{${finished},"usage":{"input_tokens":24,"output_tokens":1}}`)).toBe(
      'usage.output_tokens: found 1, expected 99',
    );
  });

  test('fails another status and shows the body', () => {
    expect(problem(stream('chat', 2), 401, '{"error":"no key"}')).toBe(
      'status: found 401, expected 200; {"error":"no key"}',
    );
  });
});

describe('the check of a stream', () => {
  test('passes a chat stream of exactly the events asked for', () => {
    expect(problem(stream('chat', 2), 200, 'data: 1\n\ndata: 2\n\nda', 'ta: [DONE]\n\n')).toBeNull();
  });

  test('fails a chat stream with an event too many, one too few, or no end', () => {
    const two = stream('chat', 2);
    expect(problem(two, 200, 'data: 1\n\ndata: 2\n\ndata: 3\n\ndata: [DONE]\n\n')).toContain('found 3');
    expect(problem(two, 200, 'data: 1\n\ndata: [DONE]\n\n')).toContain('found 1');
    expect(problem(two, 200, 'data: 1\n\ndata: 2\n\n')).toBe('the stream ended without data: [DONE]');
  });

  const end = 'event: message_stop\ndata: {}\n\n';
  const closing = (reason: string, output: number) =>
    `event: message_delta\ndata: ${JSON.stringify({
      delta: { stop_reason: reason },
      usage: { input_tokens: 24, output_tokens: output },
    })}\n\n`;

  test.each([
    ['that is right', closing('end_turn', 99) + end, null],
    ['with an event too many', `data: 1\n\n${closing('end_turn', 99)}${end}`, 'events: found 3, expected 2'],
    ['with one too few', end, 'events: found 1, expected 2'],
    ['without an end', `data: 1\n\n${closing('end_turn', 99)}`, 'the stream ended without event: message_stop'],
    ['with chat’s end', `data: 1\n\n${closing('end_turn', 99)}data: [DONE]\n\n`, 'events: found 3, expected 2'],
    ['that does not say why it ended', `data: 1\n\n${end}`, 'message_delta: found none, expected one'],
    [
      'that was cut short',
      closing('max_tokens', 99) + end,
      'delta.stop_reason: found "max_tokens", expected "end_turn"',
    ],
    ['that is counted wrong', closing('end_turn', 1) + end, 'usage.output_tokens: found 1, expected 99'],
  ])('judges a messages stream %s', (_, text, expected) => {
    expect(problem(stream('messages', 2), 200, text)).toBe(expected);
  });

  const done = (status: string, output: number) =>
    `event: response.completed\ndata: ${JSON.stringify({
      response: { status, usage: { input_tokens: 24, output_tokens: output } },
    })}\n\n`;

  test.each([
    ['that is right', `data: 1\n\n${done('completed', 99)}`, null],
    ['without an end', 'data: 1\n\ndata: 2\n\n', 'the stream ended without event: response.completed'],
    ['that failed', `data: 1\n\n${done('failed', 99)}`, 'status: found "failed", expected "completed"'],
    ['that is counted wrong', `data: 1\n\n${done('completed', 1)}`, 'usage.output_tokens: found 1, expected 99'],
  ])('judges a stream of Responses %s', (_, text, expected) => {
    expect(problem(stream('responses', 2), 200, text)).toBe(expected);
  });

  test.each(PROTOCOLS)('hears of the first event and of each event of a %s stream', (protocol) => {
    const heard: string[] = [];
    const check = createAnswerCheck(
      stream(protocol, STREAM_EVENTS[protocol]),
      () => heard.push('first'),
      () => heard.push('event'),
    );
    for (const write of REPLIES[protocol].writes) check.onBody(write);
    expect(heard.filter((word) => word === 'first')).toHaveLength(1);
    expect(heard[0]).toBe('first');
    expect(heard.filter((word) => word === 'event')).toHaveLength(STREAM_EVENTS[protocol]);
  });
});
