/**
 * Tells the choice what came of an attempt: which limits the credential has left, and where the conversation is now.
 * Only for routes where there is something to choose.
 */
import type { HeaderLine } from '../../providers/provider.ts';
import type { Target } from '../route.ts';
import { LONG_PIN_MS, PIN_MS } from './affinity.ts';
import type { ChoiceState } from './choose.ts';
import type { SentCall } from './credentials/headroom.ts';
import type { RoutedRequest } from './routed-request.ts';

/** One attempt, from the moment before it is sent to its end. */
export class TrackedAttempt {
  readonly #state: ChoiceState;
  readonly #request: RoutedRequest;
  readonly #target: Target;
  readonly #why: string;
  readonly #credential: number;
  /** Null: the target has one credential. */
  #sent: SentCall | null;

  /** Whether the attempt can pin a conversation, or spend one of several credentials. */
  static isNeeded({ conversation }: RoutedRequest, { upstream }: Target): boolean {
    return conversation !== null || upstream.credentials.length > 1;
  }

  /** `why`: the reason why the target is tried, by which moves of pins are counted. */
  constructor(state: ChoiceState, request: RoutedRequest, target: Target, credential: number, why: string) {
    const { upstream } = target;
    this.#state = state;
    this.#request = request;
    this.#target = target;
    this.#why = why;
    this.#credential = credential;
    this.#sent =
      upstream.credentials.length === 1 ? null : state.headroom.send(upstream, credential, request.inputTokens);
  }

  /** The head of an answer, of any status, has arrived. `unixMs` is the time of `nowMs`. */
  onHead(headers: readonly HeaderLine[], nowMs: number, unixMs: number): void {
    if (this.#sent !== null) this.#state.headroom.learn(this.#sent, headers, nowMs, unixMs);
  }

  /** The answer to the client begins with this attempt: the conversation stays here. */
  onAnswer(nowMs: number): void {
    const { conversation, marks } = this.#request;
    if (conversation === null) return;
    const lifeMs = marks.longCache || keepsLong(this.#target.catalog) ? LONG_PIN_MS : PIN_MS;
    this.#state.affinity.pin(conversation, this.#target, this.#credential, this.#why, nowMs, lifeMs);
  }

  /** The attempt is over. Safe to call more than once. */
  onEnd(): void {
    if (this.#sent === null) return;
    this.#state.headroom.end(this.#sent);
    this.#sent = null;
  }
}

/** Providers that keep a prompt for hours without being asked, by their names in the catalog (2026-11). */
const LONG_CACHES: ReadonlySet<string> = new Set(['deepseek']);

function keepsLong(catalog: Target['catalog']): boolean {
  return catalog !== null && LONG_CACHES.has(catalog.provider);
}
