/**
 * Flags implausible usage that upstream reported: inconsistent numbers, and numbers far from our own estimate, which it
 * learns from other answers. Upstream's numbers are billed anyway (money design, "Units"); the operator is warned.
 */
import { NO_FLAGS, type Usage, type UsageFlag } from '../../generation/usage.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { Upstream } from '../../providers/provider.ts';
import type { Target } from '../../routing/route.ts';
import { mostOutputTokens } from './limit-proofs.ts';
import { isSameModel } from './same-model.ts';

/**
 * Providers count the same model's tokens differently and may hide some of them, so ratios are not shared between
 * providers.
 */
type CountedBy = Pick<Upstream, 'provider' | 'model'>;

const BYTES_PER_TOKEN_START = 4;
const BYTES_PER_TOKEN_MAX = 8;
/**
 * Samples outside this range are ignored: part of the counted output was not shown, or part of the shown output was not
 * counted. Recorded text-only answers have at least 1.75 bytes per token (90% between 2.2 and 5.3); those below hid
 * some output. Chinese has three bytes per character. Honest output below the range (base64, single digits, tool calls,
 * whose framing has tokens but no bytes) is much rarer, so a model's other answers predict its next one better.
 */
const SAMPLE_MIN = 1.5;
const SAMPLE_MAX = 16;
/** Shorter answers are not reliable. */
const TOKENS_MIN = 16;
/** Weight of one answer in the moving average. */
const WEIGHT = 1 / 16;

export class TokenRatio {
  readonly #byProvider = new Map<string, Map<string, number>>();
  #models = 0;

  /** Tokens in this many bytes of output, rounded up. Null: unknown upstream, default ratio. */
  tokensIn(upstream: CountedBy | null, bytes: number): number {
    const known = upstream === null ? undefined : this.#byProvider.get(upstream.provider)?.get(upstream.model);
    return Math.ceil(bytes / (known ?? BYTES_PER_TOKEN_START));
  }

  /** Learns from a complete answer: `bytes` of it were shown, and `tokens` is upstream's own count of exactly these. */
  learn({ provider, model }: CountedBy, bytes: number, tokens: number): void {
    if (tokens < TOKENS_MIN) return;
    const found = bytes / tokens;
    if (found < SAMPLE_MIN || found > SAMPLE_MAX) return;
    const models = this.#byProvider.get(provider) ?? new Map<string, number>();
    const known = models.get(model);
    if (known === undefined) {
      if (this.#models >= MODELS_MAX) return;
      this.#models += 1;
      this.#byProvider.set(provider, models);
    }
    const before = known ?? BYTES_PER_TOKEN_START;
    models.set(model, before + (Math.min(BYTES_PER_TOKEN_MAX, found) - before) * WEIGHT);
  }
}

/** Used where upstream reports no count. */
const BYTES_PER_TOKEN = 4;

/** Tokens in this many bytes of text, rounded up. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of one image, sound or page, before upstream has counted them. */
const MEDIA_TOKENS = 1_600;

/** The estimated tokens of a prompt. */
export function estimateInput({ inputBytes, mediaParts }: Pick<RequestFacts, 'inputBytes' | 'mediaParts'>): number {
  return estimateTokens(inputBytes) + mediaParts * MEDIA_TOKENS;
}

/**
 * A number is far off if it exceeds the other by this factor and by this many tokens. All scripts, code and base64 stay
 * within that.
 */
const FAR_TIMES = 4;
const FAR_TOKENS = 1_000;

/** The parts of a call that the checks use. */
interface Judged {
  readonly facts: RequestFacts | null;
  readonly target: Target | null;
}

/** For a complete answer with usage from upstream; otherwise there is nothing to check. */
export function checkUsage(call: Judged, facts: AnswerFacts, ratio: TokenRatio): readonly UsageFlag[] {
  if (facts.usage === null) return NO_FLAGS;
  // Usage in units alone says nothing of tokens.
  if (facts.usage.input === 0 && facts.usage.output === 0 && facts.usage.extras !== undefined) return facts.usageFlags;
  let flags = facts.usageFlags;
  if (isInputFar(call, facts.usage)) flags = [...flags, 'far_input'];
  if (isOtherModel(call, facts)) flags = [...flags, 'other_model'];
  if (isOutputFar(call, facts, facts.usage, ratio)) flags = [...flags, 'far_output'];
  return flags;
}

/** Told only of upstreams that are known to do it: every upstream has other names for its models. */
function isOtherModel({ target }: Judged, { model }: AnswerFacts): boolean {
  if (target?.upstream.answersAsOther !== true || model === null) return false;
  return !isSameModel(target, model, target.upstream.model);
}

function isInputFar({ facts }: Judged, { input, cache_read, cache_write_5m, cache_write_1h }: Usage): boolean {
  if (facts === null) return false;
  const reported = input + cache_read + cache_write_5m + cache_write_1h;
  const own = estimateTokens(facts.inputBytes);
  // The tokens of an image or document cannot be estimated from its bytes.
  return isFar(own, reported) || (facts.mediaParts === 0 && isFar(reported, own));
}

function isOutputFar({ facts: request, target }: Judged, facts: AnswerFacts, usage: Usage, ratio: TokenRatio): boolean {
  if (target === null) return false;
  const { upstream, traits } = target;
  const { output, reasoning } = usage;
  const { outputBytes, reasoningBytes, outputBytesMax } = facts;
  // Shown reasoning may contain tool results that are not counted (Groq's compound models, recorded in 2025).
  const textBytes = outputBytes - reasoningBytes;
  if (textBytes > FAR_TOKENS && isFar(ratio.tokensIn(upstream, textBytes), output)) return true;
  if (output <= FAR_TOKENS) return false;
  const most = request === null ? null : mostOutputTokens(request, target);
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

interface ReportedModel {
  atMs: number;
  unreported: number;
}

const REPORT_EVERY_MS = 3_600_000;
/** Beyond this only known models are reported. */
const MODELS_MAX = 10_000;

export class UsageAnomalyLog {
  readonly #warn: (anomaly: UsageAnomaly) => void;
  readonly #reported = new Map<string, ReportedModel>();

  /** `warn` must not throw. */
  constructor(warn: (anomaly: UsageAnomaly) => void) {
    this.#warn = warn;
  }

  note(anomaly: Omit<UsageAnomaly, 'calls'>, nowMs: number): void {
    const name = `${anomaly.provider} ${anomaly.model}`;
    let reported = this.#reported.get(name);
    if (reported === undefined) {
      if (this.#reported.size >= MODELS_MAX) return;
      reported = { atMs: Number.NEGATIVE_INFINITY, unreported: 0 };
      this.#reported.set(name, reported);
    }
    reported.unreported += 1;
    if (nowMs - reported.atMs < REPORT_EVERY_MS) return;
    this.#warn({ ...anomaly, calls: reported.unreported });
    reported.atMs = nowMs;
    reported.unreported = 0;
  }
}
