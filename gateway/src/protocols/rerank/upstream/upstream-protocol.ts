/** Assembles the halves of the ranking format that providers use: Jina's and vLLM's, Cohere's, and Voyage's. */
import { CallFailure } from '../../../errors/call-failure.ts';
import { member } from '../../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../../wire/json-splice.ts';
import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { DirectExchange, DirectRequest, DirectUpstream } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/read-answer.ts';
import { documentsOf, limitEdits, textsOf } from '../shared/read-request.ts';

export const rerankUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'rerank',
  renderRequest: (request) => ({ body: edit(request, 'top_n', []), renderAnswer: null }),
  readAnswer,
};

/** https://docs.cohere.com/reference/rerank (2026-11). */
export const cohereRerankUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'cohere_rerank',
  passThrough: null,
  renderRequest: renderForCohere,
  readAnswer,
};

/** https://docs.voyageai.com/reference/reranker-api (2026-11). */
export const voyageRerankUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'voyage_rerank',
  passThrough: null,
  renderRequest: renderForVoyage,
  readAnswer,
};

/** The client's bytes with the model's name, the limit under the name that upstream knows, and further changes. */
function edit({ outline, facts, traits }: DirectRequest, limit: 'top_n' | 'top_k', others: readonly JsonEdit[]) {
  const ofModel: readonly JsonEdit[] =
    facts.model === traits.model ? [] : [{ set: ['model'], json: JSON.stringify(traits.model) }];
  const edits = [...ofModel, ...limitEdits(outline, limit), ...others];
  return edits.length === 0 ? outline.bytes : spliceJson(outline, edits);
}

/** Version 2 takes texts, and returns none of them: the gateway adds those that the client asked for. */
function renderForCohere(request: DirectRequest): DirectExchange {
  const { outline } = request;
  const texts = textsOf(documentsOf(outline));
  const returned = member(outline.root, 'return_documents')?.kind === 'true';
  const removed = [...dropEach(request, ['rank_fields'], 'Cohere'), { remove: ['return_documents'] }];
  return {
    body: edit(request, 'top_n', [...plainTexts(request, texts), ...removed]),
    renderAnswer: returned ? (body) => renderAnswer(body, texts) : null,
  };
}

function renderForVoyage(request: DirectRequest): DirectExchange {
  const texts = textsOf(documentsOf(request.outline));
  const removed = dropEach(request, ['rank_fields', 'max_tokens_per_doc', 'max_chunks_per_doc'], 'Voyage');
  return {
    body: edit(request, 'top_k', [...plainTexts(request, texts), ...removed]),
    renderAnswer: (body) => renderAnswer(body, null),
  };
}

/** Removes the members that the host has no place for. Throws CallFailure `invalid_request` under a strict key. */
function dropEach({ outline, notes }: DirectRequest, names: readonly string[], host: string): readonly JsonEdit[] {
  const found = names.filter((name) => member(outline.root, name) !== undefined);
  for (const name of found) notes.drop(name, `${host} has no place for it`);
  return found.map((name) => ({ remove: [name] }));
}

/** The documents as texts, where some are objects. */
function plainTexts({ outline }: DirectRequest, texts: readonly string[]): readonly JsonEdit[] {
  if (documentsOf(outline).every(({ kind }) => kind === 'string')) return [];
  return [{ set: ['documents'], json: JSON.stringify(texts) }];
}

/** The answer with its list as `results`, in upstream's order. `texts`: those to add to the results; null: none. */
function renderAnswer(body: Buffer, texts: readonly string[] | null): string {
  const answer = parseObject(body.toString());
  if (answer === null) {
    throw new CallFailure('upstream_malformed', 'the model provider sent an invalid answer: it is not a JSON object');
  }
  const { object: _, data, results = data, ...others } = answer;
  return JSON.stringify({
    ...others,
    results: asArray(results).map((result) => withDocument(asObject(result), texts)),
  });
}

function withDocument(result: JsonObject | null, texts: readonly string[] | null): object {
  const { document, ...others } = result ?? {};
  const index = asCount(others.index);
  const own = asText(document) ?? (typeof index === 'number' ? (texts?.[index] ?? null) : null);
  if (own !== null) return { ...others, document: { text: own } };
  return document === undefined ? others : { ...others, document };
}
