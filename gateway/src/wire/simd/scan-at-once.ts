/**
 * Scans a JSON text with the WebAssembly scanner, two to three times as fast as json-grammar.ts. It says only yes:
 * whatever it does not accept goes to json-grammar.ts, which words the refusals.
 */
import { isUtf8 } from 'node:buffer';
import { type JsonTape, tapeOf } from '../json-key-set.ts';
import type { JsonScanLimits } from '../json-limits.ts';
import { JSON_SCANNER } from './json-scanner.generated.ts';

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
