/** Owns judging whether a JSON number is an integer as JSON Schema sees it, without loss of precision. */

import type { JsonNode } from './json-node.ts';

/**
 * Whether the value is a number without a fraction: `1`, `1.0`, `1e2` and `9007199254740993` are integers, `1.5` and `1e-1` are
 * not (JSON Schema 2020-12, validation, 6.1.1: https://json-schema.org/draft/2020-12/json-schema-validation, 2026-11-20).
 */
export function isInteger(node: JsonNode): boolean {
  if (node.kind !== 'number') return false;
  const { bytes } = node.outline;
  let fractionDigits = 0;
  let trailingZeros = 0;
  let isZero = true;
  let inFraction = false;
  let pos = node.start;
  for (; pos < node.end; pos++) {
    const byte = bytes[pos] as number;
    if (byte === 0x2e) inFraction = true;
    else if (byte === 0x65 || byte === 0x45) break;
    else if (byte !== 0x2d) {
      if (inFraction) fractionDigits++;
      trailingZeros = byte === 0x30 ? trailingZeros + 1 : 0;
      isZero &&= byte === 0x30;
    }
  }
  // An exponent too large for a double is infinite, which compares as it should.
  const exponent = pos === node.end ? 0 : Number(Buffer.from(bytes.subarray(pos + 1, node.end)).toString());
  return isZero || exponent + trailingZeros >= fractionDigits;
}
