/**
 * Writes requests for embeddings as Gemini takes them, and its answers back. https://ai.google.dev/api/embeddings
 * (2026-11).
 */
import { ZERO_USAGE } from '../../../generation/usage.ts';
import { member } from '../../../wire/json-node.ts';
import { factsWithoutOutput } from '../../answer/answer-facts.ts';
import { asArray, asCount, asObject, parseObject } from '../../json.ts';
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { AnswerReading, DirectExchange, DirectRequest, DirectUpstream } from '../../upstream-protocol.ts';
import { inputOf, refuseTokenIds, textsOf, wantsBase64 } from '../shared/read-input.ts';
import { asVector, encodeVector, malformed } from '../shared/vectors.ts';

export const geminiEmbeddingsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'gemini_embeddings',
  passThrough: null,
  renderRequest,
  readAnswer,
};

function renderRequest({ outline, traits }: DirectRequest): DirectExchange {
  const input = inputOf(outline);
  refuseTokenIds(input, traits);
  const size = member(outline.root, 'dimensions');
  const dimensions = size === undefined ? null : Buffer.from(outline.bytes.subarray(size.start, size.end)).toString();
  const model = traits.model.includes('/') ? traits.model : `models/${traits.model}`;
  const requests = textsOf(input).map((text) => ({
    model,
    content: { parts: [{ text }] },
    ...(dimensions === null || dimensions === 'null' ? {} : { outputDimensionality: Number(dimensions) }),
  }));
  const isBase64 = wantsBase64(outline);
  return {
    body: Buffer.from(JSON.stringify({ requests })),
    dropped: member(outline.root, 'user') === undefined ? [] : ['user'],
    renderAnswer: (body) => renderAnswer(body, traits.model, isBase64),
  };
}

/** Older answers count nothing. */
function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (!Array.isArray(body?.embeddings)) return { kind: 'malformed', message: 'the answer has no list of embeddings' };
  const tokens = asCount(asObject(body.usageMetadata)?.promptTokenCount);
  const usage = typeof tokens === 'number' ? { ...ZERO_USAGE, input: tokens } : null;
  return { kind: 'answer', facts: factsWithoutOutput(usage, null, bodyBytes) };
}

function renderAnswer(body: Buffer, model: string, isBase64: boolean): string {
  const answer = parseObject(body.toString());
  const data = asArray(answer?.embeddings).map((value, index) => {
    const vector = asVector(asObject(value)?.values);
    if (vector === null) throw malformed('an embedding is no list of numbers');
    return { object: 'embedding', index, embedding: isBase64 ? encodeVector(vector) : vector };
  });
  const tokens = asCount(asObject(answer?.usageMetadata)?.promptTokenCount);
  const usage = typeof tokens === 'number' ? { prompt_tokens: tokens, total_tokens: tokens } : undefined;
  return JSON.stringify({ object: 'list', data, model, usage });
}
