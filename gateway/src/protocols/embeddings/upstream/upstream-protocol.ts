/** Assembles the half of the embeddings format that providers use. */
import { spliceJson } from '../../../wire/json-splice.ts';
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { DirectExchange, DirectRequest, DirectUpstream } from '../../upstream-protocol.ts';
import { readAnswer } from '../shared/read-answer.ts';
import { inputOf, refuseTokenIds, wantsBase64 } from '../shared/read-input.ts';
import { withBase64 } from '../shared/vectors.ts';

export const embeddingsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'embeddings',
  renderRequest,
  readAnswer,
};

/** The client's bytes with the model's name. Vectors are texts where the client asked for them, whatever the host writes. */
function renderRequest({ outline, facts, traits }: DirectRequest): DirectExchange {
  refuseTokenIds(inputOf(outline), traits);
  const isNamed = facts.model === traits.model;
  return {
    body: isNamed ? outline.bytes : spliceJson(outline, [{ set: ['model'], json: JSON.stringify(traits.model) }]),
    renderAnswer: wantsBase64(outline) ? withBase64 : null,
  };
}
