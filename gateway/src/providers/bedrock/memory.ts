/** Remembers for an hour which service has a model, and which betas a model refused. */
import type { DoorName } from './models.ts';

const REMEMBERED_MS = 3_600_000;
/** Betas are the client's: a model that refused more sets than this forgets them. */
const BETA_SETS_MAX = 100;

interface Learned {
  door: DoorName | null;
  doorUntilMs: number;
  /** Until when, by service and betas. */
  readonly refused: Map<string, number>;
}

/** `key`: the target's. `nowMs`: of any one clock, in milliseconds. */
export class BedrockMemory {
  readonly #targets = new Map<string, Learned>();

  /** The service that has the model; null: not known. */
  doorOf(key: string, nowMs: number): DoorName | null {
    const learned = this.#targets.get(key);
    return learned !== undefined && nowMs < learned.doorUntilMs ? learned.door : null;
  }

  noteDoor(key: string, door: DoorName, nowMs: number): void {
    const learned = this.#learned(key);
    learned.door = door;
    learned.doorUntilMs = nowMs + REMEMBERED_MS;
  }

  refuses(key: string, door: DoorName, betas: readonly string[], nowMs: number): boolean {
    const untilMs = this.#targets.get(key)?.refused.get(nameOf(door, betas));
    return untilMs !== undefined && nowMs < untilMs;
  }

  noteRefusal(key: string, door: DoorName, betas: readonly string[], nowMs: number): void {
    const { refused } = this.#learned(key);
    if (refused.size >= BETA_SETS_MAX) refused.clear();
    refused.set(nameOf(door, betas), nowMs + REMEMBERED_MS);
  }

  #learned(key: string): Learned {
    let learned = this.#targets.get(key);
    if (learned === undefined) {
      learned = { door: null, doorUntilMs: 0, refused: new Map() };
      this.#targets.set(key, learned);
    }
    return learned;
  }
}

function nameOf(door: DoorName, betas: readonly string[]): string {
  return `${door} ${betas.toSorted().join(',')}`;
}
