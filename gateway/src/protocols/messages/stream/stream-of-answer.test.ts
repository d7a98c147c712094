/** Tests that a non-streamed message becomes a stream with the same content, in the format's order. */
import { expect, test } from 'bun:test';
import { foldGeneration } from '../../../generation/generation.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { parseAnswer } from '../upstream/parse-answer.ts';
import { startStreamParser } from '../upstream/parse-stream.ts';
import { startFold } from './fold-stream.ts';
import { MessagesStreamObserver } from './observe-stream.ts';
import { streamOfAnswer } from './stream-of-answer.ts';

const ANSWER = `{"id":"msg_1","type":"message","role":"assistant","model":"claude","extra":1,"content":[
  {"type":"thinking","thinking":"hm","signature":"c2ln"},
  {"type":"redacted_thinking","data":"ZGF0YQ=="},
  {"type":"text","text":"Hi","citations":[{"type":"char_location","cited_text":"c"}]},
  {"type":"text","text":""},
  {"type":"tool_use","id":"t","name":"look","input":{"n": 12345678901234567890},"caller":{"type":"direct"}},
  {"type":"tool_use","id":"u","name":"look","input":{}},
  {"type":"web_search_tool_result","tool_use_id":"s","content":[]}],
  "stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":6}}`;

const recordsOfAnswer = (answer: string) => recordsOf(streamOfAnswer(Buffer.from(answer))?.toString() ?? '');

test('it has the answer’s content, digit by digit', () => {
  const parser = startStreamParser();
  const events = recordsOfAnswer(ANSWER).flatMap((record) => [...parser.push(record)]);
  expect(foldGeneration(events)).toEqual(foldGeneration(parseAnswer(Buffer.from(ANSWER))));
});

test('it keeps the order of the format, and unknown members', () => {
  const observer = new MessagesStreamObserver();
  const fold = startFold();
  for (const record of recordsOfAnswer(ANSWER)) {
    observer.observe(record);
    fold.push(record);
  }
  expect([observer.protocolViolations, observer.facts()]).toMatchObject([
    0,
    { finish_reason: 'tool_use', model: 'claude', usage: { input: 5, cache_read: 7, output: 6 } },
  ]);
  expect(JSON.parse(fold.finish(null))).toEqual(JSON.parse(ANSWER));
});

test.each(['', 'no', '[]', '{}', '{"type":"error","error":{}}', '{"content":[7]}'])('%j is no answer', (body) => {
  expect(streamOfAnswer(Buffer.from(body))).toBeNull();
});
