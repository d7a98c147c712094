/**
 * Keeps what is known of a provider's credentials: cool-downs after rate limits, by credential and model, and benches
 * of credentials that the provider refuses. Source: design of routing, section 4.
 */
import { type Sent, Suspicion } from './breaker.ts';

const DAY_MS = 86_400_000;
const GUESS_FIRST_MS = 2_000;
const GUESS_MAX_MS = 60_000;
/** While everything waits for a guessed end, one call in this time goes through. */
const TRIAL_EVERY_MS = 2_000;

/** The longest that a provider may make the gateway wait. */
const PAUSE_MAX_MS = DAY_MS;

/** Lets one call through every two seconds where the end of a pause is only guessed. */
class Trials {
  #lastMs = Number.NEGATIVE_INFINITY;

  isDue(nowMs: number): boolean {
    return nowMs - this.#lastMs >= TRIAL_EVERY_MS;
  }

  begin(nowMs: number): void {
    this.#lastMs = nowMs;
  }
}

/** The pause of one credential at one model. */
export class CoolDown {
  readonly trials = new Trials();
  readonly #random: () => number;
  #untilMs = Number.NEGATIVE_INFINITY;
  #setMs = Number.NEGATIVE_INFINITY;
  #isGuess = false;
  #guesses = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  get untilMs(): number {
    return this.#untilMs;
  }

  /** Whether its end is ours, because the provider named none. */
  get isGuess(): boolean {
    return this.#isGuess;
  }

  /** `pauseMs`: the delay that the provider named, exactly; null: none. A later, shorter one never shortens it. */
  set(pauseMs: number | null, sent: Sent, nowMs: number): void {
    // Attempts that were under way when it began show nothing new: they would double the guess many times at once.
    if (pauseMs === null && sent.begunMs < this.#setMs) return;
    const delayMs = pauseMs ?? Math.min(GUESS_MAX_MS, GUESS_FIRST_MS * 2 ** this.#guesses);
    this.#guesses = pauseMs === null ? this.#guesses + 1 : 0;
    const untilMs = nowMs + Math.min(DAY_MS, delayMs) * (1 + 0.1 * this.#random());
    this.#setMs = nowMs;
    this.trials.begin(nowMs);
    if (untilMs <= this.#untilMs) return;
    this.#untilMs = untilMs;
    this.#isGuess = pauseMs === null;
  }

  noteOk(sent: Sent, nowMs: number): void {
    if (sent.begunMs < this.#setMs) return;
    this.#guesses = 0;
    if (this.#isGuess) this.end(nowMs);
  }

  end(nowMs: number): void {
    this.#untilMs = Math.min(this.#untilMs, nowMs);
  }
}

const CREDENTIAL_BENCH_MS = 600_000;
const QUOTA_BENCH_MS = 900_000;

/** One key, account or role of a provider. */
export class CredentialHealth {
  readonly provider: string;
  readonly name: string;
  readonly trials = new Trials();
  readonly #suspicion = new Suspicion();
  /** Attempts under way. */
  open = 0;
  #why: 'credential' | 'quota' | null = null;
  #isGuess = true;
  #untilMs = Number.NEGATIVE_INFINITY;
  #benchedMs = Number.NEGATIVE_INFINITY;
  #probing = false;

  constructor(provider: string, name: string) {
    this.provider = provider;
    this.name = name;
  }

  /** Why it is benched; null: it is not. */
  get why(): 'credential' | 'quota' | null {
    return this.#why;
  }

  get untilMs(): number {
    return this.#untilMs;
  }

  /** Whether the end of its bench is ours, because the provider named none. */
  get isGuess(): boolean {
    return this.#isGuess;
  }

  isBenched(nowMs: number): boolean {
    return this.#why !== null && (nowMs < this.#untilMs || this.#probing);
  }

  /** Whether a call may begin now as the one that probes. */
  takesProbe(nowMs: number): boolean {
    return this.#why !== null && nowMs >= this.#untilMs && !this.#probing;
  }

  beginProbe(): void {
    this.#probing = true;
  }

  endProbe(): void {
    this.#probing = false;
  }

  /**
   * Notes that the provider refuses it: no calls for `pauseMs`; null: ten minutes, for a quota fifteen. True: it is
   * benched now and was not before.
   */
  noteRefusal(why: 'credential' | 'quota', pauseMs: number | null, sent: Sent, nowMs: number): boolean {
    this.#probing = false;
    this.#suspicion.note(sent.workspace, true, nowMs);
    if (this.#why === null && this.#suspicion.isOfOne(nowMs)) return false;
    const was = this.#why;
    this.#why = why;
    if (was === null) this.#benchedMs = nowMs;
    this.#isGuess = why === 'credential' || pauseMs === null;
    const forMs = pauseMs ?? (why === 'credential' ? CREDENTIAL_BENCH_MS : QUOTA_BENCH_MS);
    this.#untilMs = Math.max(this.#untilMs, nowMs + Math.min(PAUSE_MAX_MS, forMs));
    this.trials.begin(nowMs);
    return was === null;
  }

  /** Notes that the provider accepted it. True: it was benched. */
  noteOk(sent: Sent, nowMs: number): boolean {
    this.#suspicion.note(sent.workspace, false, nowMs);
    // An attempt that began before the refusals says nothing about the time after them.
    if (this.#why === null || sent.begunMs < this.#benchedMs) return false;
    this.restore();
    return true;
  }

  /** Ends its bench, and any probe. */
  restore(): void {
    this.#probing = false;
    this.#why = null;
    this.#untilMs = Number.NEGATIVE_INFINITY;
  }

  /** Lets the next call probe it at once, as after a change of the configuration. */
  endBench(nowMs: number): void {
    this.#untilMs = Math.min(this.#untilMs, nowMs);
  }
}
