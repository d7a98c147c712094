/**
 * Validates a JSON text: at once where simd/ accepts it, otherwise in one pass that can pause after any number of bytes.
 * It builds no values, so a text cannot name a property of our objects; json-node.ts reads the result.
 */
import { isUtf8 } from 'node:buffer';
import { endJson, readJson } from './json-grammar.ts';
import { detachTape, type JsonTape, tapeOf } from './json-key-set.ts';
import { DEFAULT_JSON_SCAN_LIMITS, type JsonScanLimits } from './json-limits.ts';
import { createOutline, type JsonOutline } from './json-node.ts';
import type { JsonProblem } from './json-problem.ts';
import { refuseByteOrderMark, refuseEnd, refuseFault } from './json-refusals.ts';
import { createScanState, NO_FAULT, releaseScanState, type ScanState } from './json-scan-state.ts';
import { JSON_SCANNER } from './simd/json-scanner.generated.ts';

/** A scan in progress. */
export interface JsonScan {
  /**
   * Scans about `budgetBytes` more bytes. The outcome does not depend on the budgets: the outline of a valid text, or
   * the first problem of an invalid one. Throws when called after its outcome.
   */
  step(budgetBytes: number): 'more' | JsonOutline | JsonProblem;
}

/**
 * Starts a scan of `bytes`, which must not change while the outline is in use. Omitted limits are the defaults. A root
 * of any kind is valid; the caller checks whether it must be an object.
 */
export function startJsonScan(bytes: Uint8Array, limits: Partial<JsonScanLimits> = DEFAULT_JSON_SCAN_LIMITS): JsonScan {
  return new Scan(bytes, completeLimits(limits));
}

const DEFAULTS = DEFAULT_JSON_SCAN_LIMITS;

/** Runs on every call: member by member is many times as fast as spreading. */
function completeLimits({
  depthMax = DEFAULTS.depthMax,
  keysPerObjectMax = DEFAULTS.keysPerObjectMax,
  keyBytesMax = DEFAULTS.keyBytesMax,
  outlineDepth = DEFAULTS.outlineDepth,
  outlineNodesMax = DEFAULTS.outlineNodesMax,
}: Partial<JsonScanLimits>): JsonScanLimits {
  return { depthMax, keysPerObjectMax, keyBytesMax, outlineDepth, outlineNodesMax };
}

/** Scans a text in one go: for small texts, or where blocking does no harm. */
export function scanJson(bytes: Uint8Array, limits?: Partial<JsonScanLimits>): JsonOutline | JsonProblem {
  const outcome = startJsonScan(bytes, limits).step(Number.POSITIVE_INFINITY);
  if (outcome === 'more') throw new Error('a scan without a budget must come to an end');
  return outcome;
}

/** Scans a part of a valid text again, so only the number of its values can be wrong. */
function scanContainer(bytes: Uint8Array, limits: JsonScanLimits): JsonOutline | null {
  const outcome = scanJson(bytes, limits);
  return outcome.ok ? outcome : null;
}

/** The scan at once, and the check of the encoding by native code, read many times as fast as the scan by steps. */
const FAST_BUDGET_FACTOR = 4;
const UTF8_SLICE_MIN = 64;

class Scan implements JsonScan {
  readonly #bytes: Uint8Array;
  readonly #limits: JsonScanLimits;
  #state: ScanState | undefined;
  #isOver = false;
  #utf8Checked = 0;

  constructor(bytes: Uint8Array, limits: JsonScanLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  step(budgetBytes: number): 'more' | JsonOutline | JsonProblem {
    if (this.#isOver) throw new Error('this scan has ended: the step before returned its outcome');
    if (this.#state === undefined) {
      const isShort = this.#bytes.length <= budgetBytes * FAST_BUDGET_FACTOR;
      const tape = isShort ? scanAtOnce(this.#bytes, this.#limits) : null;
      if (tape !== null) return this.#end(tape);
      this.#state = createScanState(this.#bytes, this.#limits);
    }
    const state = this.#state;
    const problem = this.#read(state, Math.max(1, budgetBytes));
    if (problem === 'more') return 'more';
    const outcome = problem ?? this.#end(detachTape(state.tape));
    this.#isOver = true;
    releaseScanState(state);
    return outcome;
  }

  #end(tape: JsonTape): JsonOutline {
    this.#isOver = true;
    return createOutline(this.#bytes, tape, this.#limits, scanContainer);
  }

  #read(state: ScanState, budgetBytes: number): 'more' | JsonProblem | undefined {
    const bytes = this.#bytes;
    if (this.#utf8Checked < bytes.length) {
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return refuseByteOrderMark(state);
      const sliceBytes = Math.max(budgetBytes * FAST_BUDGET_FACTOR, UTF8_SLICE_MIN);
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

/**
 * Validates `bytes[from, to)` and returns the start of the next slice: at most three bytes before `to`, so that no
 * character is split. A negative result is `-1 - offset` of the first byte of an ill-formed sequence.
 */
function checkUtf8(bytes: Uint8Array, from: number, to: number): number {
  const until = to === bytes.length ? to : characterStart(bytes, from, to);
  const slice = from === 0 && until === bytes.length ? bytes : bytes.subarray(from, until);
  return isUtf8(slice) ? until : -1 - firstIllFormed(bytes, from, until);
}

/** The largest position up to `to` that is not inside a character, judging by the lead bytes. */
function characterStart(bytes: Uint8Array, from: number, to: number): number {
  for (let start = to; start > from && start > to - 4; start--) {
    if (((bytes[start] as number) & 0xc0) !== 0x80) return start;
  }
  return to;
}

function firstIllFormed(bytes: Uint8Array, from: number, to: number): number {
  let pos = from;
  while (pos < to) {
    const length = characterBytes(bytes, pos, to);
    if (length === 0) return pos;
    pos += length;
  }
  return to;
}

/** The length of the character at `pos` by table 3-7 of the Unicode Standard, or 0 if it is ill-formed. */
function characterBytes(bytes: Uint8Array, pos: number, to: number): number {
  const lead = bytes[pos] as number;
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || pos + length > to) return 0;
  const second = bytes[pos + 1] as number;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (second < lowest || second > highest) return 0;
  for (let i = 2; i < length; i++) if (((bytes[pos + i] as number) & 0xc0) !== 0x80) return 0;
  return length;
}

/** The exports of assembly/json-scanner.ts. */
interface ScannerExports {
  readonly memory: WebAssembly.Memory;
  readonly TEXT: WebAssembly.Global;
  readonly TEXT_BYTES_MAX: WebAssembly.Global;
  readonly TAPE: WebAssembly.Global;
  readonly MULTIPLIERS: WebAssembly.Global;
  readonly MULTIPLIER_COUNT: WebAssembly.Global;
  readonly NOT_ASCII: WebAssembly.Global;
  scan(
    length: number,
    depthMax: number,
    keysPerObjectMax: number,
    keyBytesMax: number,
    outlineDepth: number,
    outlineNodesMax: number,
  ): number;
}

interface Scanner {
  readonly scan: ScannerExports['scan'];
  readonly text: Uint8Array;
  readonly tape: Int32Array;
  readonly notAscii: number;
}

/** Created by the first text; null where the processor has no SIMD that WebAssembly can use. */
let scanner: Scanner | null | undefined;

/**
 * The tape of a valid text, or null if json-grammar.ts has to judge it: it is invalid, beyond a limit of `limits`,
 * larger than a MiB, has a key with an escape or of more than 128 bytes, an object of more than 128 keys, or more
 * structure than is good to scan in one go. One memory of 2.6 MiB serves all texts of a thread, one after the other.
 */
export function scanAtOnce(bytes: Uint8Array, limits: JsonScanLimits): JsonTape | null {
  if (scanner === undefined) scanner = startScanner();
  if (scanner === null || bytes.length > scanner.text.length) return null;
  scanner.text.set(bytes);
  const result = scanner.scan(
    bytes.length,
    limits.depthMax,
    limits.keysPerObjectMax,
    limits.keyBytesMax,
    limits.outlineDepth,
    limits.outlineNodesMax,
  );
  if (result < 0 || ((result & scanner.notAscii) !== 0 && !isUtf8(bytes))) return null;
  return tapeOf(scanner.tape, result & ~scanner.notAscii);
}

function startScanner(): Scanner | null {
  let module: WebAssembly.Module;
  try {
    module = new WebAssembly.Module(Buffer.from(JSON_SCANNER, 'base64'));
  } catch (error) {
    if (error instanceof WebAssembly.CompileError) return null;
    throw error;
  }
  const { scan, memory, ...places } = new WebAssembly.Instance(module).exports as unknown as ScannerExports;
  const { buffer } = memory;
  crypto.getRandomValues(new BigUint64Array(buffer, places.MULTIPLIERS.value, places.MULTIPLIER_COUNT.value));
  return {
    scan,
    text: new Uint8Array(buffer, places.TEXT.value, places.TEXT_BYTES_MAX.value),
    tape: new Int32Array(buffer, places.TAPE.value, (places.TEXT.value - places.TAPE.value) >> 2),
    notAscii: places.NOT_ASCII.value,
  };
}
