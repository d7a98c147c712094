/**
 * Derives from a Gemini model's name what it accepts: how it is asked to think, whether its calls must be signed, what
 * may stand together. Names of no known family count as the newest. Google's lists, read 2026-11-22:
 * https://ai.google.dev/gemini-api/docs/thinking and https://ai.google.dev/gemini-api/docs/gemini-3.
 */
import type { ReasoningEffort } from '../../../generation/request.ts';

export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh';

/** How a model is asked to think: by a budget of tokens (`least` 0: it can be kept from it), or by a level. */
export type ThinkingScale =
  | { readonly kind: 'budget'; readonly least: number; readonly most: number }
  | { readonly kind: 'level'; readonly levels: readonly ThinkingLevel[] };

export interface GeminiModel {
  /** Null: it does not think. */
  readonly thinking: ThinkingScale | null;
  /** From Gemini 3 on: calls without a signature are refused. */
  readonly signsCalls: boolean;
  /** From Gemini 3 on: functions beside server tools or an output format, and media inside of results. */
  readonly combines: boolean;
  /** Gemini 2.5 at AI Studio refuses both penalties. */
  readonly refusesPenalties: boolean;
  /** From Gemini 4 on: an answer may need several requests. */
  readonly mayContinue: boolean;
  /** Gemma refuses `systemInstruction`, tools and formats. */
  readonly isGemma: boolean;
}

const NEWEST = Number.POSITIVE_INFINITY;
const FROM_MINIMAL: readonly ThinkingLevel[] = ['minimal', 'low', 'medium', 'high'];
const FROM_LOW: readonly ThinkingLevel[] = ['low', 'medium', 'high'];
const TO_XHIGH: readonly ThinkingLevel[] = ['low', 'medium', 'high', 'xhigh'];

export function modelOf(name: string): GeminiModel {
  const word = name.slice(name.lastIndexOf('/') + 1).toLowerCase();
  const isGemma = word.startsWith('gemma');
  const version = versionOf(word);
  return {
    thinking: isGemma ? null : scaleOf(word, version),
    signsCalls: !isGemma && version >= 300,
    combines: !isGemma && version >= 300,
    mayContinue: !isGemma && version >= 400,
    refusesPenalties: version >= 205 && version < 300,
    isGemma,
  };
}

/** Major and minor version as an increasing number (2.5 → 205). */
export function versionOf(word: string): number {
  const found = /gemini-(\d{1,3})(?:\.(\d{1,2}))?(?![\d])/.exec(word);
  return found === null ? NEWEST : Number(found[1]) * 100 + Number(found[2] ?? 0);
}

function scaleOf(word: string, version: number): ThinkingScale | null {
  if (version < 205) return null;
  if (version < 300) {
    if (/-(?:image|tts)\b/.test(word)) return null;
    return word.includes('pro')
      ? { kind: 'budget', least: 128, most: 32_768 }
      : { kind: 'budget', least: 0, most: 24_576 };
  }
  if (word.includes('hydrogen')) return { kind: 'level', levels: TO_XHIGH };
  if (word.includes('flash-lite')) return { kind: 'level', levels: FROM_MINIMAL };
  const isEarlyFlash = word.includes('flash') && version <= 306;
  return { kind: 'level', levels: isEarlyFlash ? FROM_MINIMAL : FROM_LOW };
}

/** Thinking tokens for an effort; the two highest are all that the model may think. */
export const BUDGETS: Readonly<Record<ReasoningEffort, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: NEWEST,
  max: NEWEST,
};
