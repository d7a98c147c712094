/**
 * Lists what Claude models refuse over messages: facts of the Vercel AI SDK's model catalog (@ai-sdk/anthropic,
 * Apache-2.0, `anthropic-model-catalog.ts`, November 2026), in our own words. LiteLLM is the source that effort `max`
 * is accepted from 4.6 on (`supports_max_reasoning_effort`).
 */
import type { Effort, MessagesGates, ThinkingType } from '../../src/catalog/catalog-model.ts';

interface GateRow extends MessagesGates {
  /** The maximum output tokens of the model, to compare with the price list. */
  readonly outputMax: number;
}

const UP_TO_MAX: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const WITHOUT_XHIGH: readonly Effort[] = ['low', 'medium', 'high', 'max'];
const UP_TO_HIGH: readonly Effort[] = ['low', 'medium', 'high'];
const CLASSIC: readonly ThinkingType[] = ['enabled', 'disabled'];
const ALL_BUT_BETWEEN: readonly ThinkingType[] = ['adaptive', 'enabled', 'disabled'];

/** By the part of the id that names the family; if several match, the longest applies. */
const ROWS: Readonly<Record<string, GateRow>> = {
  'sonnet-5-5': row(['adaptive', 'between_tools'], UP_TO_MAX, { forcedToolChoice: false }),
  'opus-5-5': row(['adaptive'], UP_TO_MAX, { forcedToolChoice: false }),
  'haiku-5-5': row(['adaptive', 'disabled'], UP_TO_MAX, { effortMaxWhenDisabled: 'high' }),
  'opus-5': row(ALL_BUT_BETWEEN, UP_TO_MAX, { effortMaxWhenDisabled: 'high' }),
  'fable-5-1': row(['adaptive'], UP_TO_MAX, { forcedToolChoice: false }),
  'fable-5-2': row(['adaptive'], UP_TO_MAX, { forcedToolChoice: false }),
  'fable-5': row(['adaptive'], UP_TO_MAX, {}),
  'opus-4-7': row(ALL_BUT_BETWEEN, UP_TO_MAX, {}),
  'opus-4-8': row(ALL_BUT_BETWEEN, UP_TO_MAX, {}),
  'sonnet-5': row(ALL_BUT_BETWEEN, UP_TO_MAX, {}),
  'opus-4-6': row(ALL_BUT_BETWEEN, WITHOUT_XHIGH, { sampling: true }),
  'sonnet-4-6': row(ALL_BUT_BETWEEN, WITHOUT_XHIGH, { sampling: true }),
  'opus-4-5': row(CLASSIC, UP_TO_HIGH, { sampling: true, outputMax: 64_000 }),
  'sonnet-4-5': row(CLASSIC, [], { sampling: true, outputMax: 64_000 }),
  'haiku-4-5': row(CLASSIC, [], { sampling: true, outputMax: 64_000 }),
  'opus-4-1': row(CLASSIC, [], { sampling: true, outputMax: 32_000 }),
};

/** The row of a model by its id; null for a family that is not in the table. */
export function findGates(id: string): GateRow | null {
  const family = Object.keys(ROWS)
    .filter((part) => id.includes(part))
    .sort((one, other) => other.length - one.length)[0];
  return family === undefined ? null : (ROWS[family] ?? null);
}

function row(thinking: readonly ThinkingType[], effort: readonly Effort[], rest: Partial<GateRow>): GateRow {
  return {
    sampling: false,
    thinking,
    effort,
    effortMaxWhenDisabled: null,
    forcedToolChoice: true,
    outputMax: 128_000,
    ...rest,
  };
}
