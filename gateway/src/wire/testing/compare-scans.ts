/** Compares the scan at once with the scan by steps: the same verdict, the same tape, the same problem. */
import { type JsonTape, readNode } from '../json-key-set.ts';
import type { JsonScanLimits } from '../json-limits.ts';
import type { JsonOutline } from '../json-node.ts';
import type { JsonProblem } from '../json-problem.ts';
import { scanAtOnce, scanJson, startJsonScan } from '../json-scan.ts';
import type { GeneratedText } from './json-texts.ts';

/** Accepted at once; valid, but left to the scan by steps; or invalid. */
export type Comparison = 'accepted' | 'left' | 'invalid';

/** Scans a text by all ways. Throws if they differ, with the text in base64. */
export function compareScans({ bytes, limits }: GeneratedText): Comparison {
  const expected = scanBySteps(bytes, limits);
  const tape = scanAtOnce(bytes, limits);
  const outcome = scanJson(bytes, limits);
  const isSame = expected.ok
    ? outcome.ok && isSameTape(outcome.tape, expected.tape) && (tape === null || isSameTape(tape, expected.tape))
    : !outcome.ok && tape === null && JSON.stringify(outcome) === JSON.stringify(expected);
  if (!isSame) {
    const found = outcome.ok ? 'a tape' : outcome.message;
    const wanted = expected.ok ? 'a tape' : expected.message;
    const text = Buffer.from(bytes).toString('base64');
    throw new Error(`the scans differ: ${found}; by steps ${wanted}; limits ${JSON.stringify(limits)}; text ${text}`);
  }
  if (!expected.ok) return 'invalid';
  return tape === null ? 'left' : 'accepted';
}

/** The scan without WebAssembly: a first step that is too small for any text leaves all to it. */
export function scanBySteps(bytes: Uint8Array, limits: JsonScanLimits): JsonOutline | JsonProblem {
  const scan = startJsonScan(bytes, limits);
  let outcome = scan.step(0);
  while (outcome === 'more') outcome = scan.step(Number.POSITIVE_INFINITY);
  return outcome;
}

const NODE_FIELDS = 6;

function isSameTape(tape: JsonTape, expected: JsonTape): boolean {
  if (tape.nodes !== expected.nodes) return false;
  for (let index = 0; index < tape.nodes; index++) {
    for (let field = 0; field < NODE_FIELDS; field++) {
      if (readNode(tape, index, field) !== readNode(expected, index, field)) return false;
    }
  }
  return true;
}
