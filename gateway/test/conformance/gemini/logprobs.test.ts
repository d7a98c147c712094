/** Tests that chat clients get the log probabilities of Gemini's tokens: asked for, plain and streamed, and refused. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../../src/errors/call-failure.ts';
import { foldGeneration, unfoldGeneration } from '../../../src/generation/generation.ts';
import { CLIENT_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { readByClient } from '../translation/clients.ts';
import { CONTEXT, streamFor } from '../translation/rig.ts';
import { list, object } from '../wire-text.ts';
import { answerOf, readPlain, readStream, streamOf, usageOf, writeFor } from './rig.ts';

const MODEL = 'gemini-2.5-flash';
const ASKED = { messages: [{ role: 'user', content: 'When?' }], logprobs: true };
const REQUEST = '{"model":"m","messages":[{"role":"user","content":"When?"}],"logprobs":true}';

const token = (text: string, logProbability: number) => ({ token: text, tokenId: 7, logProbability });

function chunkOf(text: string, finishReason: string | null): object {
  const answer = answerOf([{ text }], usageOf(3, 1), finishReason);
  const logprobsResult = {
    chosenCandidates: [token(text, -0.25)],
    topCandidates: [{ candidates: [token(text, -0.25), { token: 'Later' }] }],
  };
  return { ...answer, candidates: [{ ...object(list(answer.candidates)[0]), logprobsResult }] };
}

const wanted = (text: string) => ({
  token: text,
  logprob: -0.25,
  bytes: null,
  top_logprobs: [
    { token: text, logprob: -0.25, bytes: null },
    { token: 'Later', logprob: 0, bytes: null },
  ],
});

describe('log probabilities', () => {
  test('are asked for, with the number of likely tokens', () => {
    expect(writeFor(MODEL, 'chat', ASKED).body.generationConfig).toMatchObject({ responseLogprobs: true });
    const config = object(writeFor(MODEL, 'chat', { ...ASKED, top_logprobs: 3 }).body.generationConfig);
    expect([config?.responseLogprobs, config?.logprobs]).toEqual([true, 3]);
    const plain = object(writeFor(MODEL, 'chat', { ...ASKED, logprobs: false }).body.generationConfig);
    expect([plain?.responseLogprobs, plain?.logprobs]).toEqual([undefined, undefined]);
  });

  test.each([false, true])('reach the official client, streamed %p', async (streamed) => {
    const chunks = [chunkOf('At ', null), chunkOf('noon', 'STOP')];
    const { events } = readStream(streamOf(...chunks));
    const generation = foldGeneration(events);
    const answer = streamed
      ? streamFor('chat', events)
      : String(CLIENT_PROTOCOLS.chat.renderAnswer(generation, CONTEXT).json);
    const { answer: found } = await readByClient('chat', { request: REQUEST, answer, streamed });
    const [choice] = list(found.choices).map(object);
    expect(object(choice?.message)?.content).toBe('At noon');
    expect(object(choice?.logprobs)?.content).toEqual([wanted('At '), wanted('noon')]);
    expect(foldGeneration(unfoldGeneration(generation))).toEqual(generation);
  });

  test('of a plain answer are those of the whole text, without malformed tokens', () => {
    const candidate = {
      content: { parts: [{ text: 'At' }] },
      finishReason: 'STOP',
      logprobsResult: { chosenCandidates: [token('At', -1), { logProbability: -2 }, 7], topCandidates: 'none' },
    };
    const { logprobs } = foldGeneration(readPlain({ candidates: [candidate] }));
    expect(logprobs).toEqual([{ token: 'At', logprob: -1, top: [] }]);
    expect(foldGeneration(readPlain(answerOf([{ text: 'At' }]))).logprobs).toBeUndefined();
  });

  test.each<readonly [string, object]>([
    ['a sixth stop sequence', { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }],
    [
      'an output format that a tool emulates',
      {
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
        tools: [{ type: 'function', function: { name: 'look' } }],
      },
    ],
  ])('are refused with %s, because they would reveal text that the client does not get', (_, members) => {
    let found: unknown;
    try {
      writeFor(MODEL, 'chat', { ...ASKED, ...members });
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(CallFailure);
    expect(found).toMatchObject({ kind: 'invalid_request', details: { param: 'logprobs' } });
  });
});
