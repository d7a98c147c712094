/** Measures the JSON scanner and splicer against JSON.parse. Run: `bun bench/wire/json-scan.bench.ts`. */

import { DEFAULT_JSON_SCAN_LIMITS } from '../../gateway/src/wire/json-limits.ts';
import { member, stringValue } from '../../gateway/src/wire/json-node.ts';
import { scanJson, startJsonScan } from '../../gateway/src/wire/json-scan.ts';
import { spliceJson } from '../../gateway/src/wire/json-splice.ts';
import { scanBySteps } from '../../gateway/src/wire/testing/compare-scans.ts';
import { agentBody, chatBody } from './bodies.ts';
import { measure, printTiming } from './measure.ts';

const decoder = new TextDecoder();

for (const [name, body] of [
  ['chat', chatBody()],
  ['agent', agentBody()],
  ['array of numbers', encode({ input: Array.from({ length: 40_000 }, (_, i) => i) })],
  ['nested empty arrays', encode(Array.from({ length: 40_000 }, () => [[]]))],
  ['short strings', encode({ input: Array.from({ length: 40_000 }, () => 'ab') })],
  ['escapes only', encode({ text: '\n"'.repeat(50_000) })],
  ['prose, Chinese', encode({ text: '人工智能网关'.repeat(10_000) })],
  ['base64', encode({ image: 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(10_000) })],
] as const) {
  console.log(`\n${name}: ${body.length} bytes`);
  printTiming(
    'scanJson',
    measure(() => scanJson(body)),
    body.length,
  );
  printTiming(
    'by steps, without WebAssembly',
    measure(() => scanBySteps(body, DEFAULT_JSON_SCAN_LIMITS)),
    body.length,
  );
  printTiming(
    'JSON.parse(decode(bytes))',
    measure(() => JSON.parse(decoder.decode(body))),
    body.length,
  );
}

const chat = chatBody();
const outline = scanJson(chat);
if (!outline.ok) throw new Error(outline.message);
console.log('\naccess and splice, chat body');
printTiming(
  'member + stringValue',
  measure(() => readModel()),
);
printTiming(
  'splice: model and include_usage',
  measure(() =>
    spliceJson(outline, [
      { set: ['model'], json: '"gpt-4.1"' },
      { set: ['stream_options', 'include_usage'], json: 'false' },
    ]),
  ),
);
printTiming(
  'splice: nothing to change',
  measure(() => spliceJson(outline, [{ set: ['stream_options', 'include_usage'], json: 'true' }])),
);

const large = encode(Array.from({ length: 100 }, () => 'a line of code\n\t"quoted" '.repeat(11_000)));
const stepsMs: number[] = [];
const scan = startJsonScan(large);
for (let outcome: unknown = 'more'; outcome === 'more'; ) {
  const startedMs = performance.now();
  outcome = scan.step(256 * 1024);
  stepsMs.push(performance.now() - startedMs);
}
stepsMs.sort((a, b) => a - b);
console.log(`\n${large.length} bytes in ${stepsMs.length} steps of 256 KiB`);
console.log(`median ${stepsMs.at(stepsMs.length >> 1)?.toFixed(2)} ms, longest ${stepsMs.at(-1)?.toFixed(2)} ms`);

function readModel(): string | undefined {
  const model = outline.ok ? member(outline.root, 'model') : undefined;
  return model === undefined ? undefined : stringValue(model);
}

function encode(value: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(JSON.stringify(value)));
}
