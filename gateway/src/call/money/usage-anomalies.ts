/**
 * Warns the operator of usage anomalies: once an hour per provider and model, with the number of affected calls. Does
 * not affect calls.
 */
import type { UsageFlag } from '../../generation/usage.ts';

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

const TOLD_EVERY_MS = 3_600_000;
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
    if (nowMs - told.atMs < TOLD_EVERY_MS) return;
    this.#tell({ ...odd, calls: told.untold });
    told.atMs = nowMs;
    told.untold = 0;
  }
}
