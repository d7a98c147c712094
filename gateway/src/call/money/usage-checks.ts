/**
 * Flags implausible usage that upstream reported: inconsistent numbers, and numbers far from our own estimate.
 * Upstream's numbers are billed anyway (money design, "Units").
 */
import { NO_FLAGS, type Usage, type UsageFlag } from '../../generation/usage.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { Route } from '../../routing/route.ts';
import { mostOutputTokens } from './limit-proofs.ts';
import { estimateTokens, type TokenRatio } from './token-ratio.ts';

/**
 * A number is far off if it exceeds the other by this factor and by this many tokens. All scripts, code and base64 stay
 * within that.
 */
const FAR_TIMES = 4;
const FAR_TOKENS = 1_000;

/** The parts of a call that the checks use. */
interface Judged {
  readonly facts: RequestFacts | null;
  readonly route: Route | null;
}

/** For a complete answer with usage from upstream; otherwise there is nothing to check. */
export function checkUsage(call: Judged, facts: AnswerFacts, ratio: TokenRatio): readonly UsageFlag[] {
  if (facts.usage === null) return NO_FLAGS;
  let flags = facts.usageFlags;
  if (isInputFar(call, facts.usage)) flags = [...flags, 'far_input'];
  if (isOutputFar(call, facts, facts.usage, ratio)) flags = [...flags, 'far_output'];
  return flags;
}

function isInputFar({ facts }: Judged, { input, cache_read, cache_write_5m, cache_write_1h }: Usage): boolean {
  if (facts === null) return false;
  const told = input + cache_read + cache_write_5m + cache_write_1h;
  const own = estimateTokens(facts.inputBytes);
  // The tokens of an image or document cannot be estimated from its bytes.
  return isFar(own, told) || (facts.mediaParts === 0 && isFar(told, own));
}

function isOutputFar({ facts: asked, route }: Judged, facts: AnswerFacts, usage: Usage, ratio: TokenRatio): boolean {
  if (route === null) return false;
  const { upstream, traits } = route;
  const { output, reasoning } = usage;
  const { outputBytes, reasoningBytes, outputBytesMax } = facts;
  // Shown reasoning may contain tool results that are not counted (Groq's compound models, recorded in 2025).
  const textBytes = outputBytes - reasoningBytes;
  if (textBytes > FAR_TOKENS && isFar(ratio.tokensIn(upstream, textBytes), output)) return true;
  if (output <= FAR_TOKENS) return false;
  const most = asked === null ? null : mostOutputTokens(asked, route);
  if (most !== null && isFar(output, most)) return true;
  // Hidden reasoning has tokens but no bytes: too many tokens are flagged only if reasoning is reported separately or
  // does not exist.
  const isAllShown = reasoning > 0 || traits.takes.reasoning === false;
  return isAllShown && outputBytesMax > 0 && isFar(shownTokens(usage), ratio.tokensIn(upstream, outputBytesMax));
}

/** Output tokens that have text, excluding those that upstream reported separately as having none. */
export function shownTokens({ output, reasoning, extras }: Usage): number {
  return output - reasoning - (extras?.audio_output ?? 0) - (extras?.image_output ?? 0);
}

function isFar(more: number, less: number): boolean {
  return more > less * FAR_TIMES && more - less > FAR_TOKENS;
}

export interface UsageAnomaly {
  readonly provider: string;
  /** The model's name at the provider. */
  readonly model: string;
  readonly flags: readonly UsageFlag[];
  readonly requestId: string;
  /** Affected calls of the model since the last warning, including this one. */
  readonly calls: number;
}

interface Told {
  atMs: number;
  untold: number;
}

const REPORT_EVERY_MS = 3_600_000;
/** Beyond this only known models are reported. */
const MODELS_MAX = 10_000;

export class UsageAnomalyLog {
  readonly #tell: (odd: UsageAnomaly) => void;
  readonly #told = new Map<string, Told>();

  /** `tell` must not throw. */
  constructor(tell: (odd: UsageAnomaly) => void) {
    this.#tell = tell;
  }

  note(odd: Omit<UsageAnomaly, 'calls'>, nowMs: number): void {
    const name = `${odd.provider} ${odd.model}`;
    let told = this.#told.get(name);
    if (told === undefined) {
      if (this.#told.size >= MODELS_MAX) return;
      told = { atMs: Number.NEGATIVE_INFINITY, untold: 0 };
      this.#told.set(name, told);
    }
    told.untold += 1;
    if (nowMs - told.atMs < REPORT_EVERY_MS) return;
    this.#tell({ ...odd, calls: told.untold });
    told.atMs = nowMs;
    told.untold = 0;
  }
}
