/**
 * Leaves members out of a translated request that its upstream refuses, and reports them to the caller. Members that
 * must never be left out are in none of these lists: `n`, the response format, the tool choice, `store`, safety
 * settings. The output token limit is sent under its other name instead. Contract, 10.4.
 */
import type { Feature, GenerationRequest } from '../../generation/request.ts';
import type { ProtocolName } from '../../protocols/protocol.ts';
import type { OutputLimitMember } from '../../protocols/request/output-limit.ts';
import type { TranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { UpstreamTraits } from '../../protocols/upstream-traits.ts';

/** Upstream's optional members, and the feature that each one renders. */
const FEATURE_OF: { readonly [upstream in ProtocolName]: { readonly [member: string]: Feature } } = {
  chat: {
    reasoning_effort: 'reasoning',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    frequency_penalty: 'frequency_penalty',
    presence_penalty: 'presence_penalty',
    seed: 'seed',
    parallel_tool_calls: 'parallel_tool_calls',
    service_tier: 'service_tier',
    verbosity: 'verbosity',
  },
  messages: {
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    thinking: 'reasoning',
    service_tier: 'service_tier',
    metadata: 'end_user',
  },
};

const OTHER_LIMIT: { readonly [member in OutputLimitMember]: OutputLimitMember } = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};

/** Members that an upstream's refusal may name, so that the request is sent without them or in another form. */
export const DROPPABLE: { readonly [upstream in ProtocolName]: ReadonlySet<string> } = {
  chat: new Set([...Object.keys(FEATURE_OF.chat), 'stop', 'stream_options', 'max_tokens', 'max_completion_tokens']),
  messages: new Set([...Object.keys(FEATURE_OF.messages), 'reasoning_effort']),
};

/**
 * Adapts the traits to an upstream that does not know a member: it takes the other limit, no `stop` (the gateway looks
 * for the stop texts in the answer), no effort. Returns the same object if nothing changes.
 */
export function traitsWithout(traits: UpstreamTraits, member: string): UpstreamTraits {
  const { chat, messages } = traits;
  if (member === chat.outputLimitMember) {
    return { ...traits, chat: { ...chat, outputLimitMember: OTHER_LIMIT[chat.outputLimitMember] } };
  }
  if (member === 'stop') return { ...traits, chat: { ...chat, stopMax: 0 } };
  if (member === 'stream_options') return { ...traits, chat: { ...chat, usageOption: false } };
  if (member === 'reasoning_effort') {
    return { ...traits, chat: { ...chat, efforts: [] }, messages: { ...messages, effort: [] } };
  }
  return traits;
}

/** The request without the features that the members render; the notes get the caller's names for them. */
export function requestWithout(
  request: GenerationRequest,
  members: readonly string[],
  upstream: ProtocolName,
  notes: TranslationNotes,
): GenerationRequest {
  let left = request;
  for (const member of members) {
    const feature = Object.hasOwn(FEATURE_OF[upstream], member) ? FEATURE_OF[upstream][member] : undefined;
    // The traits cover these; the renderer reports the member or keeps the part that it can render.
    if (feature === undefined || member === 'reasoning_effort') continue;
    if (left[feature as keyof GenerationRequest] === null) continue;
    notes.drop(request.named[feature] ?? feature, 'the host of the model refuses it');
    left = { ...left, [feature]: null };
  }
  return left;
}
