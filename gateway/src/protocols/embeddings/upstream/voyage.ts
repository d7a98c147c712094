/** Writes requests for embeddings as Voyage takes them. https://docs.voyageai.com/reference/embeddings-api (2026-11). */
import { member, stringValue } from '../../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../../wire/json-splice.ts';
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { DirectExchange, DirectRequest, DirectUpstream } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/read-answer.ts';
import { inputOf, refuseTokenIds, wantsBase64 } from '../shared/read-input.ts';
import { withBase64 } from '../shared/vectors.ts';

export const voyageEmbeddingsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'voyage_embeddings',
  passThrough: null,
  renderRequest,
  readAnswer,
};

/** Its own name for the dimensions; `float` is its default, which it takes no word for. */
function renderRequest({ outline, facts, traits, notes }: DirectRequest): DirectExchange {
  const { root } = outline;
  refuseTokenIds(inputOf(outline), traits);
  const edits: JsonEdit[] = [];
  if (facts.model !== traits.model) edits.push({ set: ['model'], json: JSON.stringify(traits.model) });
  const dimensions = member(root, 'dimensions');
  if (dimensions !== undefined) {
    const json = Buffer.from(outline.bytes.subarray(dimensions.start, dimensions.end)).toString();
    edits.push({ set: ['output_dimension'], json }, { remove: ['dimensions'] });
  }
  const encoding = member(root, 'encoding_format');
  if (encoding !== undefined && stringValue(encoding) === 'float') edits.push({ remove: ['encoding_format'] });
  if (member(root, 'user') !== undefined) {
    notes.drop('user', 'Voyage takes no end user');
    edits.push({ remove: ['user'] });
  }
  return {
    body: edits.length === 0 ? outline.bytes : spliceJson(outline, edits),
    renderAnswer: wantsBase64(outline) ? withBase64 : null,
  };
}
