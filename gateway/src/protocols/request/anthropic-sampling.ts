/**
 * Renders the sampling options for models of Anthropic, which refuse them beside thinking, or in pairs. Source: wire
 * reference C.1.
 */
import type { Feature, GenerationRequest } from '../../generation/request.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import { type FeatureFates, refuseMember, type TranslationNotes } from './translation-notes.ts';

interface RenderedSampling {
  readonly temperature?: number;
  readonly top_p?: number | undefined;
  readonly top_k?: number;
}

/** Default of `temperature` and `top_p`. */
const DEFAULT = 1;
/** The lowest value that Anthropic accepts with thinking. */
const THINKING_TOP_P_MIN = 0.95;

/** The fates that `renderSampling` implements; that of `top_k` also depends on the format. */
export const SAMPLING_FATES = {
  temperature: 'carried: lowered to 1 above 1, and named; dropped if the model does not support it or thinks',
  top_p: 'carried: dropped if the model does not support it; with thinking only from 0.95 on',
  frequency_penalty: 'dropped: 0 has no effect',
  presence_penalty: 'dropped: 0 has no effect',
  seed: 'dropped: 0 has no effect',
  logprobs: 'refused: the provider returns no probabilities',
} as const satisfies Partial<FeatureFates>;

/**
 * `thinks`: the model was asked to think, so the client cannot set the temperature. Throws CallFailure `invalid_request`
 * for log probabilities.
 */
export function renderSampling(
  request: GenerationRequest,
  traits: UpstreamTraits,
  thinks: boolean,
  notes: TranslationNotes,
): RenderedSampling {
  const drop = (feature: Feature, why: string) => notes.drop(request.named[feature] ?? feature, why);
  if (request.logprobs !== null) {
    const member = request.named.logprobs ?? 'logprobs';
    throw refuseMember(member, 'the model behind this name returns no probabilities; leave it out');
  }
  for (const feature of ['frequency_penalty', 'presence_penalty', 'seed'] as const) {
    if (request[feature] !== null && request[feature] !== 0)
      drop(feature, 'the format of the provider has no such member');
  }
  const { temperature, top_p, top_k } = request;
  const requested = { temperature, top_p, top_k };
  const sent: { temperature?: number; top_p?: number; top_k?: number } = {};
  for (const feature of ['temperature', 'top_p', 'top_k'] as const) {
    const value = requested[feature];
    if (value === null || saysNothing(feature, value, request, traits)) continue;
    const obstacle = samplingObstacle(feature, value, traits, thinks);
    if (obstacle !== null) drop(feature, obstacle);
    else if (feature === 'temperature' && value > 1) {
      drop(feature, 'it is at most 1 in the messages format; 1 was sent');
      sent.temperature = 1;
    } else sent[feature] = value;
  }
  if (sent.temperature === undefined || sent.top_p === undefined || traits.messages.samplingPair) return sent;
  drop('top_p', `${traits.model} takes only one of temperature and top_p; temperature was sent`);
  return { ...sent, top_p: undefined };
}

/** Omits a default where it could be refused: at a model without sampling, and next to the other one at some models. */
function saysNothing(
  feature: 'temperature' | 'top_p' | 'top_k',
  value: number,
  { temperature, top_p }: GenerationRequest,
  traits: UpstreamTraits,
): boolean {
  // Below 1 it means "all", as in vLLM and others.
  if (feature === 'top_k') return value < 1;
  if (value !== DEFAULT) return false;
  return !traits.messages.sampling || (feature === 'temperature' ? top_p : temperature) !== null;
}

function samplingObstacle(
  feature: 'temperature' | 'top_p' | 'top_k',
  value: number,
  traits: UpstreamTraits,
  thinks: boolean,
): string | null {
  if (feature !== 'top_k' && value === DEFAULT) return null;
  if (!traits.messages.sampling) return `${traits.model} takes no sampling parameters`;
  if (!thinks || (feature === 'top_p' && value >= THINKING_TOP_P_MIN)) return null;
  return 'a model that thinks does not take it';
}
