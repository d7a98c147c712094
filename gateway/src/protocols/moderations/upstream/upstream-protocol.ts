/** Assembles the half of the moderations format that providers use. */
import { member } from '../../../wire/json-node.ts';
import { spliceJson } from '../../../wire/json-splice.ts';
import { factsWithoutOutput, readInputUsage } from '../../answer/answer-facts.ts';
import { asName, asObject } from '../../json.ts';
import { DIRECT_UPSTREAM } from '../../openai/direct-format.ts';
import type { AnswerReading, DirectExchange, DirectRequest, DirectUpstream } from '../../upstream-protocol.ts';

export const moderationsUpstream: DirectUpstream = {
  ...DIRECT_UPSTREAM,
  name: 'moderations',
  renderRequest,
  readAnswer,
};

/** The client's bytes with the model's name, which not all hosts can do without. */
function renderRequest({ outline, facts, traits }: DirectRequest): DirectExchange {
  const isNamed = facts.model === traits.model && member(outline.root, 'model')?.kind === 'string';
  return {
    body: isNamed ? outline.bytes : spliceJson(outline, [{ set: ['model'], json: JSON.stringify(traits.model) }]),
    renderAnswer: null,
  };
}

/** OpenAI counts nothing, Mistral tokens. */
function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (!Array.isArray(body?.results)) return { kind: 'malformed', message: 'the answer has no results' };
  return { kind: 'answer', facts: factsWithoutOutput(readInputUsage(body.usage), asName(body.model), bodyBytes) };
}
