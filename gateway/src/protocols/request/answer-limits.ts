/** Renders the limits of an answer that formats treat alike: tokens, stop sequences, verbosity. */
import type { GenerationRequest } from '../../generation/request.ts';
import type { UpstreamTraits } from '../upstream-traits.ts';
import { refuseMember, type TranslationNotes } from './translation-notes.ts';

/** The output limit, lowered to the model's maximum, and named then; null: the client set none. */
export function capOutput(
  { outputTokensMax: requested, named }: GenerationRequest,
  { outputTokensMax: most, model }: UpstreamTraits,
  notes: TranslationNotes,
): number | null {
  if (requested === null || most === null || requested <= most) return requested;
  notes.drop(named.output_limit ?? 'max_tokens', `${model} answers with at most ${most} tokens; ${most} was sent`);
  return most;
}

/** Every character of an answer is compared with every text that is looked for, on the thread of all requests. */
const SEARCHED_MAX = 1_000;
const SEARCHED_CHARS_MAX = 64 * 1024;

/**
 * Stop sequences for upstream, undefined if it takes none of them, and those for which the gateway looks in the answer.
 * An empty one stops nothing. Throws CallFailure `invalid_request` for more than the gateway looks for.
 */
export function splitStop(
  { stop, named }: Pick<GenerationRequest, 'stop' | 'named'>,
  isTaken: (text: string) => boolean,
  most?: number,
) {
  const sent = stop.filter(isTaken).slice(0, most);
  const taken = new Set(sent);
  const searched = stop.filter((text) => text !== '' && !taken.has(text));
  if (searched.length > SEARCHED_MAX || searched.reduce((sum, { length }) => sum + length, 0) > SEARCHED_CHARS_MAX) {
    throw refuseMember(
      named.stop ?? 'stop',
      `found ${searched.length} texts that the provider does not look for itself; the gateway looks for at most ${SEARCHED_MAX}, of ${SEARCHED_CHARS_MAX} characters together`,
    );
  }
  return { sent: sent.length === 0 ? undefined : sent, searched };
}

/** Anthropic's models refuse stop sequences of white space only. */
export function isVisible(text: string): boolean {
  return /\S/.test(text);
}

/** Names a verbosity for which the format has no member; `medium` is the default. */
export function dropVerbosity({ verbosity, named }: GenerationRequest, format: string, notes: TranslationNotes): void {
  if (verbosity === null || verbosity === 'medium') return;
  notes.drop(named.verbosity ?? 'verbosity', `${format} has no such member`);
}
