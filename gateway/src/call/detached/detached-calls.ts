/**
 * Follows detached calls to their ends: polls the job of each, less often the longer it takes, and settles it once. Takes
 * over those of earlier processes at its start. Source: contract, 10.13.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { DetachedCall } from '../../store/ports/ledger.ts';
import { isOperatorsFault } from '../attempt/upstream-outcome.ts';
import type { CallLog } from '../call-log.ts';
import { endAtHeldAmount, type JobEnd, type JobKinds, type JobState } from './job-kinds.ts';

/** What calls and requests about stored objects tell of detached calls. */
export interface DetachedCalls {
  /** Takes over the calls that earlier processes detached. Returns the function that ends all polls. */
  start(): () => Promise<void>;
  /** Follows a call that was detached now. */
  follow(call: DetachedCall): void;
  /** Asks for the job of a call at once, because it has ended; does nothing if the call is not followed. */
  wake(callId: string): void;
  /** Asks for the job of a call now, and settles it if it has ended; does nothing if the call is not followed. Never rejects. */
  settleIfEnded(callId: string): Promise<void>;
  /** Whether the call was detached and is not settled yet. */
  isOpen(callId: string): boolean;
}

interface PollerParts {
  readDetached(): readonly DetachedCall[];
  readonly kinds: JobKinds;
  log(): CallLog;
  /** Rejects where the store does not take the settlement. */
  settle(call: DetachedCall, end: JobEnd, nowMs: number): Promise<void>;
  /** Unix ms. */
  nowMs(): number;
}

/** The first poll comes this long after the detachment; each later one after half as much time again. */
const FIRST_MS = 2_000;
const LONGEST_MS = 60_000;
const AT_ONCE = 16;
const TICK_MS = 500;

interface Followed {
  readonly call: DetachedCall;
  dueMs: number;
  delayMs: number;
  /** Resolves when the poll that runs has ended; null: none runs. */
  polling: Promise<void> | null;
  /** It was woken while it was polled. */
  again: boolean;
  /** What failed last, which is reported; null: nothing. */
  trouble: 'poll' | 'settle' | null;
}

export class DetachedPoller implements DetachedCalls {
  readonly #parts: PollerParts;
  readonly #followed = new Map<string, Followed>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #timer: Timer | null = null;

  constructor(parts: PollerParts) {
    this.#parts = parts;
  }

  start(): () => Promise<void> {
    for (const call of this.#parts.readDetached()) this.#add(call, this.#parts.nowMs());
    this.pollDue();
    return () => this.stop();
  }

  /** Ends all polls; the calls stay open. Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort(new CallFailure('draining', 'the gateway is shutting down'));
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await Promise.allSettled(this.#running);
  }

  follow(call: DetachedCall): void {
    this.#add(call, this.#parts.nowMs() + FIRST_MS);
  }

  isOpen(callId: string): boolean {
    return this.#followed.has(callId);
  }

  wake(callId: string): void {
    const followed = this.#followed.get(callId);
    if (followed === undefined) return;
    followed.again = true;
    followed.dueMs = this.#parts.nowMs();
    this.pollDue();
  }

  async settleIfEnded(callId: string): Promise<void> {
    // What runs already may have asked before the end.
    await this.#followed.get(callId)?.polling;
    const followed = this.#followed.get(callId);
    if (followed === undefined || this.#stopping.signal.aborted) return;
    await (followed.polling ?? this.#startPoll(callId, followed));
  }

  #add(call: DetachedCall, dueMs: number): void {
    const { request_id } = call.draft;
    if (this.#stopping.signal.aborted || this.#followed.has(request_id)) return;
    const begun = { polling: null, again: false, trouble: null };
    this.#followed.set(request_id, { call, dueMs, delayMs: FIRST_MS, ...begun });
    this.#timer ??= setInterval(() => this.pollDue(), TICK_MS);
  }

  /** Polls the calls whose time has come; the poller does it itself too. */
  pollDue(): void {
    const nowMs = this.#parts.nowMs();
    for (const [callId, followed] of this.#followed) {
      if (this.#running.size >= AT_ONCE || this.#stopping.signal.aborted) return;
      // One that is due after the longest delay became due before the clock was set back.
      const isEarly = followed.dueMs > nowMs && followed.dueMs <= nowMs + LONGEST_MS;
      if (followed.polling !== null || isEarly) continue;
      void this.#startPoll(callId, followed);
    }
  }

  #startPoll(callId: string, followed: Followed): Promise<void> {
    const running = this.#poll(callId, followed);
    followed.polling = running;
    this.#running.add(running);
    void running.finally(() => {
      this.#running.delete(running);
      this.pollDue();
    });
    return running;
  }

  /** Never rejects. */
  async #poll(callId: string, followed: Followed): Promise<void> {
    followed.again = false;
    const isEnded = await this.#advance(followed).catch((cause: unknown) => this.#note(followed, 'settle', cause));
    followed.polling = null;
    this.#followed.delete(callId);
    if (!isEnded) this.#wait(callId, followed);
    else if (this.#followed.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  /** Behind the others, so that each gets its turn. */
  #wait(callId: string, followed: Followed): void {
    const { call, again, delayMs } = followed;
    const nowMs = this.#parts.nowMs();
    const { deadline_ms } = call.job;
    const nextMs = nowMs + delayMs;
    followed.dueMs = again ? nowMs : nowMs < deadline_ms ? Math.min(nextMs, deadline_ms) : nextMs;
    followed.delayMs = Math.min(delayMs * 1.5, LONGEST_MS);
    this.#followed.set(callId, followed);
  }

  /** Asks for the job once, and settles it if it has ended or its time is over. Returns whether it is settled. */
  async #advance(followed: Followed): Promise<boolean> {
    const { call } = followed;
    const state = await this.#look(followed);
    if (this.#stopping.signal.aborted && state?.kind !== 'ended') return false;
    const nowMs = this.#parts.nowMs();
    const end = endOf(call, state, nowMs);
    if (end === null) return false;
    await this.#parts.settle(call, end, nowMs);
    return true;
  }

  /** Null: it cannot be known now. */
  async #look(followed: Followed): Promise<JobState | null> {
    const { call } = followed;
    try {
      const kind = this.#parts.kinds[call.job.kind];
      if (kind === undefined) throw new Error(`there is no job of kind ${call.job.kind}`);
      const state = await kind.poll(call, this.#stopping.signal);
      if (followed.trouble === 'poll') followed.trouble = null;
      return state;
    } catch (cause) {
      this.#note(followed, 'poll', cause);
      return null;
    }
  }

  /** Reports trouble once, until it is over. Returns that the call is not settled. */
  #note(followed: Followed, trouble: 'poll' | 'settle', cause: unknown): false {
    if (followed.trouble === trouble || this.#stopping.signal.aborted) return false;
    followed.trouble = trouble;
    const { draft, job } = followed.call;
    const what = `${job.kind} ${job.id}`;
    const log = this.#parts.log();
    if (!(cause instanceof CallFailure)) log.fault(draft.request_id, `${what} could not be followed or settled`, cause);
    else if (isOperatorsFault(cause)) {
      log.alarm(draft.request_id, `${job.provider}: ${what} cannot be followed: ${String(cause.details.cause)}`);
    } else log.upstream(draft.request_id, job.provider, `${what} cannot be followed: ${cause.message}`);
    return false;
  }
}

/** Null: it goes on. */
function endOf(call: DetachedCall, state: JobState | null, nowMs: number): JobEnd | null {
  if (state?.kind === 'ended') return state.end;
  if (state?.kind === 'gone') return endAtHeldAmount(call, 'gone');
  return nowMs < call.job.deadline_ms ? null : endAtHeldAmount(call, 'overdue');
}
