/** Writes requests for embeddings as Cohere takes them, and its answers back. https://docs.cohere.com/reference/embed (2026-11). */
import { type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { member, stringValue } from '../../../wire/json-node.ts';
import { factsWithoutOutput } from '../../answer/answer-facts.ts';
import { asArray, asCount, asObject, countOrZero, type JsonObject, parseObject } from '../../json.ts';
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { AnswerReading, DirectExchange, DirectRequest, DirectUpstream } from '../../upstream-protocol.ts';
import { dropOthers, inputOf, refuseTokenIds, textsOf, wantsBase64 } from '../shared/read-input.ts';
import { listOfVectors } from '../shared/vectors.ts';

export const cohereEmbeddingsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'cohere_embeddings',
  passThrough: null,
  renderRequest,
  readAnswer,
};

/** Its default for texts that are stored; it requires one. */
const INPUT_TYPE = 'search_document';
/** Members of its own, which clients may send beside those of their format. */
const OWN_MEMBERS = ['truncate', 'max_tokens'] as const;

function renderRequest({ outline, traits, notes }: DirectRequest): DirectExchange {
  const { root } = outline;
  const input = inputOf(outline);
  refuseTokenIds(input, traits);
  dropOthers(root, ['input_type', ...OWN_MEMBERS], 'Cohere', notes);
  const named = member(root, 'input_type');
  const input_type = named === undefined ? undefined : stringValue(named);
  // The client did not send it, so a strict key is not refused.
  if (input_type === undefined && !notes.strict) notes.drop('input_type', `${INPUT_TYPE} is assumed`);
  const given = [['output_dimension', 'dimensions'] as const, ...OWN_MEMBERS.map((name) => [name, name] as const)];
  const others = given.flatMap(([name, from]) => {
    const node = member(root, from);
    if (node === undefined || node.kind === 'null') return [];
    return [[name, JSON.parse(Buffer.from(outline.bytes.subarray(node.start, node.end)).toString())] as const];
  });
  const body = {
    model: traits.model,
    texts: textsOf(input),
    input_type: input_type ?? INPUT_TYPE,
    embedding_types: ['float'],
    ...Object.fromEntries(others),
  };
  const isBase64 = wantsBase64(outline);
  return {
    body: Buffer.from(JSON.stringify(body)),
    renderAnswer: (answer) => renderAnswer(answer, traits.model, isBase64),
  };
}

function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  const { embeddings = null, meta } = body ?? {};
  // Of a long answer only the short members were parsed.
  if (meta === undefined && embeddings === null) {
    return { kind: 'malformed', message: 'the answer has no embeddings' };
  }
  return { kind: 'answer', facts: factsWithoutOutput(readUsage(meta), null, bodyBytes) };
}

/** Null: nothing is counted. */
function readUsage(meta: unknown): Usage | null {
  const billed = asObject(asObject(meta)?.billed_units);
  const tokens = asCount(billed?.input_tokens);
  if (typeof tokens !== 'number') return null;
  const image_input = countOrZero(billed?.image_tokens);
  const counters = { ...ZERO_USAGE, input: tokens + image_input };
  return image_input === 0 ? counters : { ...counters, extras: { image_input } };
}

function renderAnswer(body: Buffer, model: string, isBase64: boolean): string {
  const { embeddings, meta }: JsonObject = parseObject(body.toString()) ?? {};
  const data = listOfVectors(asArray(asObject(embeddings)?.float), isBase64);
  const usage = readUsage(meta);
  const counted = usage === null ? undefined : { prompt_tokens: usage.input, total_tokens: usage.input };
  return JSON.stringify({ object: 'list', data, model, usage: counted });
}
