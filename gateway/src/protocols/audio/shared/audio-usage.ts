/** Reads the usage of audio answers: tokens or seconds, in the shapes that hosts have. Source: other-endpoints.md, 3.3, 3.4. */
import { type MediaAndToolUsage, type Usage, ZERO_USAGE } from '../../../generation/usage.ts';
import { asCount, asObject, countOrZero, type JsonObject } from '../../json.ts';

/** Null: no usage that is valid. `isSpeech`: the output tokens are sound. */
export function readAudioUsage(value: unknown, isSpeech: boolean): Usage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const seconds = wholeSeconds(usage.seconds ?? usage.prompt_audio_seconds);
  const tokens = readTokens(usage, isSpeech);
  if (tokens === null && seconds === 0) return null;
  const { extras = {}, ...counters } = tokens ?? ZERO_USAGE;
  const all: MediaAndToolUsage = seconds === 0 ? extras : { ...extras, seconds };
  return Object.keys(all).length === 0 ? counters : { ...counters, extras: all };
}

/** Seconds are billed as whole ones, rounded up; 0: none that are valid. */
export function wholeSeconds(value: unknown): number {
  const seconds = typeof value === 'number' && value > 0 ? Math.ceil(value) : 0;
  return typeof asCount(seconds) === 'number' ? seconds : 0;
}

function readTokens(usage: JsonObject, isSpeech: boolean): Usage | null {
  const prompt = asCount(usage.input_tokens ?? usage.prompt_tokens);
  if (typeof prompt !== 'number') return null;
  const output = countOrZero(usage.output_tokens ?? usage.completion_tokens);
  const details = asObject(usage.input_token_details ?? usage.prompt_tokens_details);
  const sound = countOrZero(details?.audio_tokens);
  // Mistral counts the tokens of sound outside of the prompt's; the total tells (recorded traffic, 2026-08).
  const isOutside = countOrZero(usage.total_tokens) >= prompt + sound + output;
  const input = isOutside ? prompt + sound : prompt;
  const audio_input = Math.min(sound, input);
  const extras = {
    ...(audio_input === 0 ? {} : { audio_input }),
    ...(isSpeech && output > 0 ? { audio_output: output } : {}),
  };
  const counters = { ...ZERO_USAGE, input, output };
  return Object.keys(extras).length === 0 ? counters : { ...counters, extras };
}
