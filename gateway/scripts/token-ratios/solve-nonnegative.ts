/**
 * Solves a weighted least-squares problem with non-negative solutions and a pull to a prior. Knows nothing about
 * tokens.
 */

export interface Row {
  readonly features: readonly number[];
  readonly target: number;
  readonly weight: number;
}

export interface Prior {
  readonly values: readonly number[];
  /** How strongly each number is pulled to its prior: the cost of its squared distance. Above 0. */
  readonly pull: readonly number[];
}

const SWEEPS = 150;

/**
 * Moves from `start` towards the numbers ≥ 0 that minimize Σ weight·(features·x − target)² + Σ pull·(x − prior)², one
 * number after the other, a fixed number of times. Calling it again with its result continues.
 */
export function solveNonnegative(rows: readonly Row[], prior: Prior, start: readonly number[]): number[] {
  const size = prior.values.length;
  const normal = new Float64Array(size * size);
  const right = prior.values.map((value, index) => value * at(prior.pull, index));
  for (let index = 0; index < size; index += 1) normal[index * size + index] = at(prior.pull, index);
  for (const { features, target, weight } of rows) {
    for (let i = 0; i < size; i += 1) {
      const scaled = weight * at(features, i);
      if (scaled === 0) continue;
      right[i] = at(right, i) + scaled * target;
      for (let j = 0; j < size; j += 1) normal[i * size + j] = at(normal, i * size + j) + scaled * at(features, j);
    }
  }
  const solution = [...start];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (let i = 0; i < size; i += 1) {
      let gradient = at(right, i);
      for (let j = 0; j < size; j += 1) gradient -= at(normal, i * size + j) * at(solution, j);
      solution[i] = Math.max(0, at(solution, i) + gradient / at(normal, i * size + i));
    }
  }
  return solution;
}

/** The dot product of two lists of equal length. */
export function dot(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, index) => sum + value * at(other, index), 0);
}

function at(values: ArrayLike<number>, index: number): number {
  return values[index] ?? 0;
}
