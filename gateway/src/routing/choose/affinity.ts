/**
 * Keeps the calls of one conversation at the target and credential that answered it last, so that the provider's prompt
 * cache stays warm. In memory: a lost pin costs a cold cache, never an error.
 */
import type { Target } from '../route.ts';
import { issuerOf } from './issuer.ts';

/** The target and credential that answered a conversation last. */
export interface Pin {
  /** `upstream.key` of the target and `key` of the credential; a target that is gone has no pins. */
  readonly upstream: string;
  readonly credential: string;
  /** The party whose signatures the conversation holds. It binds longer than the pin. */
  readonly issuer: string;
  /** The pin is live until then. */
  readonly untilMs: number;
}

const PINS_MAX = 100_000;

/** The usual life of a provider's prompt cache, from its last use. */
export const PIN_MS = 5 * 60_000;
/** For requests that ask for a longer one, and targets that keep theirs so long. */
export const LONG_PIN_MS = 3_600_000;

/** A pin that moves to another target, by the reason why that target was tried. */
export type PinMoves = ReadonlyMap<string, number>;

export class Affinity {
  /** In the order of their last use, the latest last. */
  readonly #pins = new Map<number, Pin>();
  readonly #moves = new Map<string, number>();

  /** Pins, live or not. */
  get size(): number {
    return this.#pins.size;
  }

  /** The pins that moved to another target. */
  get moves(): PinMoves {
    return this.#moves;
  }

  /** The last pin of a conversation, live or not. */
  find(key: number): Pin | undefined {
    return this.#pins.get(key);
  }

  /**
   * Pins a conversation to the target and credential that answered. `why`: the candidate's reason. `lifeMs`: `PIN_MS`
   * or `LONG_PIN_MS`.
   */
  pin(key: number, target: Target, credential: number, why: string, nowMs: number, lifeMs: number): void {
    const before = this.#pins.get(key);
    const pin = pinOf(target, credential, nowMs + lifeMs);
    if (pin === null) return;
    if (before !== undefined) {
      this.#pins.delete(key);
      if (before.upstream !== pin.upstream && before.untilMs > nowMs) {
        this.#moves.set(why, (this.#moves.get(why) ?? 0) + 1);
      }
    } else if (this.#pins.size >= PINS_MAX) {
      const [oldest] = this.#pins.keys();
      if (oldest !== undefined) this.#pins.delete(oldest);
    }
    this.#pins.set(key, pin);
  }
}

function pinOf({ upstream }: Target, index: number, untilMs: number): Pin | null {
  const credential = upstream.credentials[index];
  if (credential === undefined) return null;
  return { upstream: upstream.key, credential: credential.key, issuer: issuerOf(upstream, index), untilMs };
}
