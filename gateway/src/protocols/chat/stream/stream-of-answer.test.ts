/** Tests that a non-streamed completion becomes a stream with the same content, for clients and for translations. */
import { expect, test } from 'bun:test';
import { foldGeneration } from '../../../generation/generation.ts';
import { parseObject } from '../../json.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { generationOf } from '../testing/chat-stream.ts';
import { parseAnswer } from '../upstream/parse-answer.ts';
import { startFold } from './fold-stream.ts';
import { streamOfAnswer } from './stream-of-answer.ts';

const call = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{"n":9007199254740993}' },
});
const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 7,
  model: 'own',
  system_fingerprint: 'fp',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'Hi',
        reasoning_content: 'hm',
        tool_calls: [call('a'), call('b')],
        extra: 1,
      },
      logprobs: { content: [{ token: 'Hi' }] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
};
const bodyOf = (answer: object) => Buffer.from(JSON.stringify(answer));
const streamOf = (answer: object) => streamOfAnswer(bodyOf(answer))?.toString() ?? '';

test('carries all members of the answer, including unknown ones', () => {
  const written = streamOf(ANSWER);
  expect(generationOf(written)).toEqual(foldGeneration(parseAnswer(bodyOf(ANSWER))));
  for (const word of ['"system_fingerprint":"fp"', '"extra":1', '"token":"Hi"']) expect(written).toContain(word);
  const fold = startFold('x');
  for (const record of recordsOf(written)) fold.push(record);
  expect(parseObject(fold.finish(null))).toMatchObject({
    id: 'chatcmpl-1',
    choices: [{ message: { content: 'Hi', tool_calls: [{ id: 'a' }, { id: 'b' }] }, finish_reason: 'tool_calls' }],
    usage: ANSWER.usage,
  });
});

test('several choices are all in it', () => {
  const [first] = ANSWER.choices;
  const written = streamOf({ ...ANSWER, choices: [first, { ...first, index: 1, message: { content: 'Ho' } }] });
  expect(written).toContain('"index":1,"delta":{"role":"assistant","content":"Ho"}');
  expect(written.match(/"finish_reason":"tool_calls"/g)).toHaveLength(2);
  expect(written).toEndWith('data: [DONE]\n\n');
});

test('a choice without a message, or a reason, ends all the same', () => {
  expect(generationOf(streamOf({ choices: [{ index: 0, finish_reason: 'content_filter' }] }))).toMatchObject({
    parts: [],
    finish_reason: 'refusal',
    complete: true,
  });
  expect(generationOf(streamOf({ choices: [{ message: { content: 'x' } }] })).finish_reason).toBe('stop');
});

test.each(['', 'no', '[]', '{}', '{"choices":[]}', '{"choices":[7]}', '{"error":{"message":"x"},"choices":[{}]}'])(
  '%j is no answer',
  (body) => {
    expect(streamOfAnswer(Buffer.from(body))).toBeNull();
  },
);
