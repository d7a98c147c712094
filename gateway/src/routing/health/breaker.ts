/**
 * Decides from the outcomes of live calls when a target or an origin gets no more calls, when one call probes it, and
 * how its share grows afterwards. Source: design of routing, section 4.
 */
import { WindowCounts } from './window-counts.ts';

export type BreakerState = 'closed' | 'open' | 'half_open' | 'benched';

/** Who sent an attempt, when, and whether it probes. */
export interface Sent {
  readonly workspace: string;
  readonly begunMs: number;
}

const FAULTS_IN_A_ROW = 5;
const LAST_OUTCOMES = 20;
const LAST_OUTCOMES_AGE_MS = 600_000;
/** For so long after the first outcome the missing ones of the last twenty count as successes. */
const NEW_MS = 60_000;
const WINDOW_MS = 30_000;
const WINDOW_OUTCOMES_MIN = 20;

const OPEN_FIRST_MS = 5_000;
const OPEN_MAX_MS = 20_000;
/** Time without a trip after which the next one counts as the first. */
const FORGET_OPENS_MS = 60_000;
const SLOW_START_MS = 10_000;
const SHARE_MIN = 0.1;

/** The kept outcomes; the share of faults among them also sizes the retry budget. */
const KEPT = 100;
const OK = 0;
const FAULT = 1;
const TAKEN_BACK = 2;

const OUTCOMES = 0;
const FAULTS = 1;

/** The two workspaces that did something last. */
class LastTwo {
  #last = '';
  #lastMs = Number.NEGATIVE_INFINITY;
  #otherMs = Number.NEGATIVE_INFINITY;

  note(workspace: string, nowMs: number): void {
    if (workspace !== this.#last) {
      this.#otherMs = this.#lastMs;
      this.#last = workspace;
    }
    this.#lastMs = nowMs;
  }

  /** Whether more than one did it since then. */
  areTwo(sinceMs: number): boolean {
    return this.#otherMs >= sinceMs;
  }
}

/**
 * Whether faults of one workspace may be its own doing: several workspaces sent of late, and only one of them met
 * faults. Then nothing is switched off for all.
 */
export class Suspicion {
  readonly #senders = new LastTwo();
  readonly #faulted = new LastTwo();

  note(workspace: string, isFault: boolean, nowMs: number): void {
    this.#senders.note(workspace, nowMs);
    if (isFault) this.#faulted.note(workspace, nowMs);
  }

  isOfOne(nowMs: number): boolean {
    const sinceMs = nowMs - WINDOW_MS;
    return this.#senders.areTwo(sinceMs) && !this.#faulted.areTwo(sinceMs);
  }
}

export class Breaker {
  readonly #random: () => number;
  #state: 'closed' | 'open' | 'benched' = 'closed';
  #untilMs = Number.NEGATIVE_INFINITY;
  #changedMs = Number.NEGATIVE_INFINITY;
  /** How often it opened in a row. */
  #opens = 0;
  /** How often it opened after being closed, since the start. */
  trips = 0;
  #slowStartMs = Number.NEGATIVE_INFINITY;
  #probing = false;

  readonly #kinds = new Uint8Array(KEPT);
  readonly #times = new Float64Array(KEPT);
  /** The number of all outcomes so far, and of those before it last closed, which no longer count. */
  #outcomes = 0;
  #forgotten = 0;
  /** When the first outcome that counts was noted. */
  #firstMs = 0;
  #faultsKept = 0;
  #faultsInARow = 0;
  /** The number of the last outcome that was no fault. */
  #lastOk = -1;
  readonly #window = new WindowCounts(1_000, WINDOW_MS / 1_000, 2);
  readonly #suspicion = new Suspicion();

  /** `random`: uniform in [0, 1), spreads the times of probes. */
  constructor(random: () => number) {
    this.#random = random;
  }

  state(nowMs: number): BreakerState {
    if (this.#state === 'closed') return 'closed';
    return nowMs >= this.#untilMs ? 'half_open' : this.#state;
  }

  /** Whether a call may begin now as the one that probes. */
  takesProbe(nowMs: number): boolean {
    return this.#state !== 'closed' && nowMs >= this.#untilMs && !this.#probing;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** When calls may probe it; meaningless while closed. On the clock of `nowMs`. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** For how long it has been closed; Infinity: since the start. 0: it is not closed. */
  closedForMs(nowMs: number): number {
    return this.#state === 'closed' ? nowMs - this.#changedMs : 0;
  }

  /** Faults among the last hundred outcomes, also those taken back, and their number. */
  get faults(): number {
    return this.#faultsKept;
  }

  get outcomes(): number {
    return Math.min(this.#outcomes - this.#forgotten, KEPT);
  }

  /** Whether it has opened, or was benched or closed, since then. */
  hasChangedSince(atMs: number): boolean {
    return this.#changedMs > atMs;
  }

  /** Whether half of its last calls failed, also those whose faults were taken back. */
  get isFailing(): boolean {
    const oldest = Math.max(this.#forgotten, this.#outcomes - LAST_OUTCOMES);
    let failures = 0;
    for (let outcome = this.#outcomes - 1; outcome >= oldest; outcome--) {
      if (this.#kinds[outcome % KEPT] !== OK) failures += 1;
    }
    return failures >= FAULTS_IN_A_ROW && failures * 2 >= this.#outcomes - oldest;
  }

  /** The part of its usual share that it gets: less than 1 in the seconds after it closed. */
  share(nowMs: number): number {
    const sinceMs = nowMs - this.#slowStartMs;
    return sinceMs >= SLOW_START_MS ? 1 : Math.max(SHARE_MIN, sinceMs / SLOW_START_MS);
  }

  beginProbe(): void {
    this.#probing = true;
  }

  /** A probe ended without saying anything: the next call probes. */
  endProbe(): void {
    this.#probing = false;
  }

  /** Notes an attempt that reached its first content. True: the state changed. */
  noteOk(sent: Sent, isProbe: boolean, nowMs: number): boolean {
    if (isProbe) {
      this.close(nowMs, true);
      return true;
    }
    if (!this.#isOld(sent)) this.#keep(OK, sent.workspace, nowMs);
    return false;
  }

  /**
   * Notes a fault. `judges` false: the call went to a target that was not closed because there was no other, so that
   * its outcome moves no state. Returns the outcome's number for `takeBack`; -1: it was not kept.
   */
  noteFault(sent: Sent, isProbe: boolean, judges: boolean, nowMs: number): number {
    if (!isProbe && this.#isOld(sent)) return -1;
    this.#keep(FAULT, sent.workspace, nowMs);
    if (isProbe) {
      this.#probing = false;
      this.#open(nowMs);
    } else if (judges && this.#state === 'closed' && this.#isTripped(nowMs)) {
      if (nowMs - this.#changedMs >= FORGET_OPENS_MS) this.#opens = 0;
      this.trips += 1;
      this.#open(nowMs);
    }
    return this.#outcomes - 1;
  }

  /** Takes back a fault: the same call failed elsewhere too, so that it may be the call's. What it moved stays. */
  takeBack(outcome: number): void {
    const at = outcome % KEPT;
    const isKept = outcome >= this.#forgotten && outcome >= this.#outcomes - KEPT;
    if (!isKept || this.#kinds[at] !== FAULT) return;
    this.#kinds[at] = TAKEN_BACK;
    if (outcome > this.#lastOk) this.#faultsInARow -= 1;
    const atMs = this.#times[at] ?? 0;
    this.#window.takeBack(OUTCOMES, atMs);
    this.#window.takeBack(FAULTS, atMs);
  }

  /** No calls for `forMs`, then a probe. True: it is benched now and was not before. */
  bench(forMs: number, sent: Sent, isProbe: boolean, nowMs: number): boolean {
    if (!isProbe && (this.#state === 'benched' || this.#isOld(sent))) return false;
    this.#suspicion.note(sent.workspace, true, nowMs);
    if (!isProbe && this.#suspicion.isOfOne(nowMs)) return false;
    const was = this.#state;
    this.#probing = false;
    this.#change('benched', nowMs);
    this.#untilMs = nowMs + forMs;
    return was !== 'benched';
  }

  /** Lets the next call probe it at once, as after a change of its configuration. */
  endBench(nowMs: number): void {
    if (this.#state === 'benched') this.#untilMs = Math.min(this.#untilMs, nowMs);
  }

  /** Closes it; earlier outcomes are forgotten. */
  close(nowMs: number, slowly: boolean): void {
    this.#change('closed', nowMs);
    this.#slowStartMs = slowly ? nowMs : Number.NEGATIVE_INFINITY;
    this.#probing = false;
    this.#forgotten = this.#outcomes;
    this.#faultsKept = 0;
    this.#faultsInARow = 0;
    this.#lastOk = this.#outcomes - 1;
    this.#window.clear();
  }

  #open(nowMs: number): void {
    this.#opens += 1;
    this.#change('open', nowMs);
    const forMs = Math.min(OPEN_MAX_MS, OPEN_FIRST_MS * 2 ** (this.#opens - 1));
    this.#untilMs = nowMs + forMs * (0.9 + 0.2 * this.#random());
  }

  #change(state: 'closed' | 'open' | 'benched', nowMs: number): void {
    this.#state = state;
    this.#changedMs = nowMs;
  }

  /** An attempt that began before the last change says nothing about the time after it. */
  #isOld(sent: Sent): boolean {
    return sent.begunMs < this.#changedMs;
  }

  #keep(kind: typeof OK | typeof FAULT, workspace: string, nowMs: number): void {
    const outcome = this.#outcomes;
    const at = outcome % KEPT;
    if (outcome === this.#forgotten) this.#firstMs = nowMs;
    if (outcome - this.#forgotten >= KEPT && this.#kinds[at] !== OK) this.#faultsKept -= 1;
    this.#kinds[at] = kind;
    this.#times[at] = nowMs;
    this.#outcomes = outcome + 1;
    this.#window.add(OUTCOMES, nowMs);
    this.#suspicion.note(workspace, kind === FAULT, nowMs);
    if (kind === FAULT) {
      this.#faultsKept += 1;
      this.#faultsInARow += 1;
      this.#window.add(FAULTS, nowMs);
    } else {
      this.#faultsInARow = 0;
      this.#lastOk = outcome;
    }
  }

  #isTripped(nowMs: number): boolean {
    const tripped = (this.#faultsInARow >= FAULTS_IN_A_ROW && this.#isHalfOfLast(nowMs)) || this.#isHalfOfWindow(nowMs);
    return tripped && !this.#suspicion.isOfOne(nowMs);
  }

  #isHalfOfLast(nowMs: number): boolean {
    const oldest = Math.max(this.#forgotten, this.#outcomes - LAST_OUTCOMES);
    let outcomes = 0;
    let faults = 0;
    for (let outcome = this.#outcomes - 1; outcome >= oldest; outcome--) {
      const at = outcome % KEPT;
      const kind = this.#kinds[at];
      if (nowMs - (this.#times[at] ?? 0) > LAST_OUTCOMES_AGE_MS) break;
      if (kind === TAKEN_BACK) continue;
      outcomes += 1;
      if (kind === FAULT) faults += 1;
    }
    // After a start, and after it closed, faults come in before the answers that take longer.
    const isNew = nowMs - this.#firstMs < NEW_MS;
    return faults * 2 >= (isNew ? LAST_OUTCOMES : outcomes);
  }

  #isHalfOfWindow(nowMs: number): boolean {
    const outcomes = this.#window.sum(OUTCOMES, nowMs);
    return outcomes >= WINDOW_OUTCOMES_MIN && this.#window.sum(FAULTS, nowMs) * 2 >= outcomes;
  }
}
