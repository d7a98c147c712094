/**
 * Owns writing temperature and its like, and naming those that the model or the format does not have. Source: wire
 * reference B.9 and C.1.
 */
import type { Feature, GenerationRequest } from '../../generation/request.ts';
import type { TranslationNotes } from '../translation-notes.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';

export interface RenderedSampling {
  readonly temperature?: number;
  readonly top_p?: number | undefined;
  readonly top_k?: number;
}

/** Of `temperature` and `top_p`; it is what the model does unasked. */
const DEFAULT = 1;
/** The least that Anthropic takes beside thinking. */
const THINKING_TOP_P_MIN = 0.95;

/** `thinks`: the model was asked to think, and then the temperature is not the caller's. */
export function renderSampling(
  request: GenerationRequest,
  traits: UpstreamTraits,
  thinks: boolean,
  notes: TranslationNotes,
): RenderedSampling {
  const drop = (feature: Feature, why: string) => notes.drop(request.named[feature] ?? feature, why);
  for (const feature of ['frequency_penalty', 'presence_penalty', 'seed'] as const) {
    if (request[feature] !== null && request[feature] !== 0) drop(feature, 'the messages format has no such member');
  }
  const { temperature, top_p, top_k } = request;
  const asked = { temperature, top_p, top_k };
  const sent: { temperature?: number; top_p?: number; top_k?: number } = {};
  for (const feature of ['temperature', 'top_p', 'top_k'] as const) {
    const value = asked[feature];
    if (value === null || saysNothing(feature, value, request, traits)) continue;
    const obstacle = obstacleOf(feature, value, traits, thinks);
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

/** A default is left out where it can be refused: at a model without sampling, and beside the other of the two at some models. */
function saysNothing(
  feature: 'temperature' | 'top_p' | 'top_k',
  value: number,
  { temperature, top_p }: GenerationRequest,
  traits: UpstreamTraits,
): boolean {
  // Below 1 it stands for "all", as vLLM and others have it.
  if (feature === 'top_k') return value < 1;
  if (value !== DEFAULT) return false;
  return !traits.messages.sampling || (feature === 'temperature' ? top_p : temperature) !== null;
}

function obstacleOf(
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
