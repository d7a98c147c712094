/** Owns checking a JSON text in one pass that can stop after any number of bytes. It builds no values, so nothing in a text can
 * name a property of ours; what it returns is read with json-node.ts. */

import { NO_FAULT } from './json-faults.ts';
import { endJson, readJson } from './json-grammar.ts';
import { DEFAULT_JSON_SCAN_LIMITS, type JsonScanLimits } from './json-limits.ts';
import { createOutline, type JsonOutline } from './json-node.ts';
import type { JsonProblem } from './json-problem.ts';
import { refuseByteOrderMark, refuseEnd, refuseFault } from './json-refusals.ts';
import { createScanState, releaseScanState, type ScanState } from './json-scan-state.ts';
import { checkUtf8 } from './json-utf8.ts';

/** A scan under way. */
export interface JsonScan {
  /**
   * Reads on for about `budgetBytes` bytes. The outcome is the same whatever the budgets were: the outline of a valid text, or
   * the first problem of an invalid one. Throws when called after its outcome.
   */
  step(budgetBytes: number): 'more' | JsonOutline | JsonProblem;
}

/**
 * Begins to scan `bytes`, which must not change while the outline is in use. Limits left out are the defaults. A root of any kind
 * is valid: whether it has to be an object is the caller's to judge.
 */
export function startJsonScan(bytes: Uint8Array, limits: Partial<JsonScanLimits> = DEFAULT_JSON_SCAN_LIMITS): JsonScan {
  const whole =
    limits === DEFAULT_JSON_SCAN_LIMITS ? DEFAULT_JSON_SCAN_LIMITS : { ...DEFAULT_JSON_SCAN_LIMITS, ...limits };
  return new Scan(bytes, whole);
}

/** Scans a text in one go: for texts that are small, or where blocking is no harm. */
export function scanJson(bytes: Uint8Array, limits?: Partial<JsonScanLimits>): JsonOutline | JsonProblem {
  const outcome = startJsonScan(bytes, limits).step(Number.POSITIVE_INFINITY);
  if (outcome === 'more') throw new Error('a scan without a budget must come to an end');
  return outcome;
}

/** The encoding is checked by native code, many times as fast as the scan. */
const UTF8_BUDGET_FACTOR = 4;
const UTF8_SLICE_MIN = 64;

class Scan implements JsonScan {
  readonly #bytes: Uint8Array;
  #state: ScanState | undefined;
  #utf8Checked = 0;

  constructor(bytes: Uint8Array, limits: JsonScanLimits) {
    this.#bytes = bytes;
    this.#state = createScanState(bytes, limits);
  }

  step(budgetBytes: number): 'more' | JsonOutline | JsonProblem {
    const state = this.#state;
    if (state === undefined) throw new Error('this scan has ended: the step before returned its outcome');
    const problem = this.#read(state, Math.max(1, budgetBytes));
    if (problem === 'more') return 'more';
    const outcome = problem ?? createOutline(this.#bytes, state.tape, state.limits.outlineDepth);
    this.#state = undefined;
    releaseScanState(state);
    return outcome;
  }

  #read(state: ScanState, budgetBytes: number): 'more' | JsonProblem | undefined {
    const bytes = this.#bytes;
    if (this.#utf8Checked < bytes.length) {
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return refuseByteOrderMark(state);
      const sliceBytes = Math.max(budgetBytes * UTF8_BUDGET_FACTOR, UTF8_SLICE_MIN);
      const next = checkUtf8(bytes, this.#utf8Checked, Math.min(this.#utf8Checked + sliceBytes, bytes.length));
      this.#utf8Checked = next < 0 ? bytes.length : next;
      if (next < 0) state.end = -1 - next;
      if (this.#utf8Checked < bytes.length) return 'more';
    }
    const fault = readJson(state, Math.min(state.pos + budgetBytes, state.end));
    if (fault !== NO_FAULT) return refuseFault(state, fault);
    if (state.pos < state.end) return 'more';
    return endJson(state) ? undefined : refuseEnd(state);
  }
}
