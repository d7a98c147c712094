/** Tests that only a complete, right answer passes the check, and that its problem names what was found. */
import { describe, expect, test } from 'bun:test';
import { burst, PLAIN } from '../upstream/replies.ts';
import { createAnswerCheck } from './answer-check.ts';
import type { ExpectedAnswer } from './load-plan.ts';

const STREAM: ExpectedAnswer = { kind: 'stream', events: 2 };

function problem(expect: ExpectedAnswer, status: number, ...pieces: readonly (string | Buffer)[]): string | null {
  const check = createAnswerCheck(
    expect,
    () => {},
    () => {},
  );
  for (const piece of pieces) check.onBody(Buffer.from(piece));
  return check.problem(status);
}

describe('the check of an answer', () => {
  test('passes the upstream’s own JSON in any pieces', () => {
    const body = PLAIN.subarray(PLAIN.indexOf('\r\n\r\n') + 4);
    expect(problem({ kind: 'json' }, 200, body.subarray(0, 99), body.subarray(99))).toBeNull();
  });

  test('fails JSON that is cut, not finished, or counted wrong', () => {
    const finished = '"choices":[{"finish_reason":"stop"}]';
    expect(problem({ kind: 'json' }, 200, '{"choices":[')).toContain('not JSON');
    expect(problem({ kind: 'json' }, 200, '{"choices":[]}')).toContain('finish_reason');
    expect(problem({ kind: 'json' }, 200, `{${finished},"usage":{"total_tokens":1}}`)).toContain('found 1');
  });

  test('fails another status and shows the body', () => {
    expect(problem(STREAM, 401, '{"error":"no key"}')).toBe('status: found 401, expected 200; {"error":"no key"}');
  });

  test('passes a stream of exactly the events asked for', () => {
    expect(problem(STREAM, 200, 'data: 1\n\ndata: 2\n\nda', 'ta: [DONE]\n\n')).toBeNull();
  });

  test('fails a stream with an event too many, one too few, or no end', () => {
    expect(problem(STREAM, 200, 'data: 1\n\ndata: 2\n\ndata: 3\n\ndata: [DONE]\n\n')).toContain('found 3');
    expect(problem(STREAM, 200, 'data: 1\n\ndata: [DONE]\n\n')).toContain('found 1');
    expect(problem(STREAM, 200, 'data: 1\n\ndata: 2\n\n')).toContain('[DONE]');
  });

  test('hears of the first event once and of each event', () => {
    const heard: string[] = [];
    const check = createAnswerCheck(
      { kind: 'stream', events: 100 },
      () => heard.push('first'),
      () => heard.push('event'),
    );
    const coded = burst(false);
    check.onBody(coded.subarray(coded.indexOf('data:')));
    expect(heard.filter((word) => word === 'first')).toHaveLength(1);
    expect(heard[0]).toBe('first');
    expect(heard.filter((word) => word === 'event')).toHaveLength(100);
  });
});
