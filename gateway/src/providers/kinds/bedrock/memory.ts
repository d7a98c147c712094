/** Remembers for an hour which service has a model, which does not count its tokens, and which betas the model refused. */
import type { DoorName } from './models.ts';

const REMEMBERED_MS = 3_600_000;
/** Betas are the client's: a model that refused more sets than this forgets them. */
const BETA_SETS_MAX = 100;

/**
 * Of one target with one credential: another one may have other rights. `nowMs`: of any one clock, in milliseconds.
 */
export class BedrockMemory {
  #door: DoorName | null = null;
  #doorUntilMs = 0;
  readonly #uncountedUntilMs: { [door in DoorName]?: number } = {};
  /** Until when, by service and betas. */
  readonly #refused = new Map<string, number>();

  /** The service that has the model; null: not known. */
  doorAt(nowMs: number): DoorName | null {
    return nowMs < this.#doorUntilMs ? this.#door : null;
  }

  noteDoor(door: DoorName, nowMs: number): void {
    this.#door = door;
    this.#doorUntilMs = nowMs + REMEMBERED_MS;
  }

  refuses(door: DoorName, betas: readonly string[], nowMs: number): boolean {
    return nowMs < (this.#refused.get(nameOf(door, betas)) ?? 0);
  }

  noteRefusal(door: DoorName, betas: readonly string[], nowMs: number): void {
    if (this.#refused.size >= BETA_SETS_MAX) this.#refused.clear();
    this.#refused.set(nameOf(door, betas), nowMs + REMEMBERED_MS);
  }

  refusesCounts(door: DoorName, nowMs: number): boolean {
    return nowMs < (this.#uncountedUntilMs[door] ?? 0);
  }

  noteNoCounts(door: DoorName, nowMs: number): void {
    this.#uncountedUntilMs[door] = nowMs + REMEMBERED_MS;
  }
}

function nameOf(door: DoorName, betas: readonly string[]): string {
  return `${door} ${betas.toSorted().join(',')}`;
}
