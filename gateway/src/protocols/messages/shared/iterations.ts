/**
 * Parses `usage.iterations`: the usage of each model run, if one response took several. The totals next to it omit the
 * usage of compaction and advisors. Source: wire reference B.6.
 */
import { addCounters, type Usage, type UsagePart, ZERO_USAGE } from '../../../generation/usage.ts';
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';

/** The runs of one response and their sum. */
export interface Iterations {
  readonly sum: Usage;
  readonly parts: readonly UsagePart[];
}

/** Above this number, the runs of one response are merged into one per model. */
const PARTS_MAX = 100;
const MODEL_CHARS_MAX = 256;

/**
 * Null if the value is not a list of runs with valid counters; `countersOf` reads the counters of one. A run that was
 * declined before any output is not charged:
 * https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback (2026-11-22).
 */
export function readIterations(value: unknown, countersOf: (usage: JsonObject) => Usage | null): Iterations | null {
  const iterations = asArray(value).map(asObject);
  if (iterations.length === 0) return null;
  const fellBack = iterations.some((one) => one?.type === 'fallback_message');
  const parts: UsagePart[] = [];
  for (const [index, iteration] of iterations.entries()) {
    if (iteration === null) return null;
    // An iteration has no iterations; nested ones must not cause recursion.
    const counters = countersOf({ ...iteration, iterations: null });
    if (counters === null) return null;
    const isTry = iteration.type === 'message' || iteration.type === 'fallback_message';
    if (fellBack && isTry && counters.output === 0 && index < iterations.length - 1) continue;
    const { input, cache_read, cache_write_5m, cache_write_1h, output } = counters;
    const model = asText(iteration.model)?.slice(0, MODEL_CHARS_MAX);
    const named = model === undefined ? {} : { model };
    parts.push({ ...named, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning: 0 });
  }
  return {
    sum: parts.reduce<Usage>(addCounters, ZERO_USAGE),
    parts: parts.length > PARTS_MAX ? byModel(parts) : parts,
  };
}

/**
 * The counters of the whole response: the sum of its runs, or the totals where they are higher. `parts` add up to the
 * same; null if the response was one run of the requested model.
 */
export function joinIterations(
  totals: Usage,
  { sum, parts }: Iterations,
): { readonly counters: Usage; readonly parts: readonly UsagePart[] | null } {
  const more = (member: 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h' | 'output') =>
    Math.max(0, totals[member] - sum[member]);
  const beyond = {
    input: more('input'),
    cache_read: more('cache_read'),
    cache_write_5m: more('cache_write_5m'),
    cache_write_1h: more('cache_write_1h'),
    output: more('output'),
    reasoning: 0,
  };
  const whole = addCounters(sum, beyond);
  const counters = { ...whole, reasoning: Math.min(totals.reasoning, whole.output) };
  const last = parts.at(-1);
  if (last === undefined || (parts.length === 1 && last.model === undefined)) return { counters, parts: null };
  const all = [...parts.slice(0, -1), { ...last, ...addCounters(last, beyond) }];
  return { counters, parts: withReasoning(all, counters.reasoning) };
}

/**
 * Reasoning is reported for the whole response only; it is attributed to the last run first, then to the one before.
 */
function withReasoning(parts: readonly UsagePart[], reasoning: number): readonly UsagePart[] {
  if (reasoning === 0) return parts;
  let left = reasoning;
  return parts
    .toReversed()
    .map((part) => {
      const own = Math.min(left, part.output);
      left -= own;
      return { ...part, reasoning: own };
    })
    .toReversed();
}

function byModel(parts: readonly UsagePart[]): readonly UsagePart[] {
  const found = new Map<string | undefined, UsagePart>();
  for (const part of parts) {
    const before = found.get(part.model);
    found.set(part.model, before === undefined ? part : { ...part, ...addCounters(before, part) });
  }
  return [...found.values()].slice(0, PARTS_MAX);
}
