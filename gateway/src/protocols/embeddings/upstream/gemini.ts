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
import { dropOthers, inputOf, refuseTokenIds, textsOf, wantsBase64 } from '../shared/read-input.ts';
import { listOfVectors } from '../shared/vectors.ts';

export const geminiEmbeddingsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'gemini_embeddings',
  passThrough: null,
  renderRequest,
  readAnswer,
};

function renderRequest({ outline, traits, notes }: DirectRequest): DirectExchange {
  const input = inputOf(outline);
  refuseTokenIds(input, traits);
  dropOthers(outline.root, [], 'Gemini', notes);
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
  const vectors = asArray(answer?.embeddings).map((value) => asObject(value)?.values);
  const data = listOfVectors(vectors, isBase64);
  const tokens = asCount(asObject(answer?.usageMetadata)?.promptTokenCount);
  const usage = typeof tokens === 'number' ? { prompt_tokens: tokens, total_tokens: tokens } : undefined;
  return JSON.stringify({ object: 'list', data, model, usage });
}
