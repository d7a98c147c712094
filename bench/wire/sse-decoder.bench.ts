/** Measures the event stream decoder per record. Run: `bun bench/wire/sse-decoder.bench.ts`. */

import { dataText } from '../../gateway/src/framing/framing.ts';
import { startSseDecoder } from '../../gateway/src/framing/sse-decoder.ts';
import { measure, printTiming } from './measure.ts';

const RECORDS = 100;
const chat = `data: {"id":"chatcmpl-x","object":"chat.completion.chunk","created":1763650000,"model":"gpt-4.1","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n`;
const messages = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" some more words of an answer, a few"}}\n\n`;

for (const [name, text] of [
  ['chat completions', chat],
  ['messages', messages],
  ['messages, CRLF', messages.replaceAll('\n', '\r\n')],
] as const) {
  const record = new Uint8Array(Buffer.from(text));
  const many = new Uint8Array(Buffer.from(text.repeat(RECORDS)));
  console.log(`\n${name}: ${record.length} bytes per record`);
  perRecord('one record per chunk', [...Array.from({ length: RECORDS }, () => record)]);
  perRecord('one chunk for all', [many]);
  perRecord(
    'each record in two chunks',
    Array.from({ length: RECORDS }, () => [record.subarray(0, 90), record.subarray(90)]).flat(),
  );
}
const one = startSseDecoder().push(new Uint8Array(Buffer.from(chat)))[0];
if (one === undefined || one.kind === 'problem') throw new Error('the benchmark record must be an event');
console.log();
printTiming(
  'dataText',
  measure(() => dataText(one)),
);

function perRecord(name: string, chunks: readonly Uint8Array[]): void {
  const timing = measure(() => {
    const decoder = startSseDecoder();
    let records = 0;
    for (const chunk of chunks) records += decoder.push(chunk).length;
    if (records !== RECORDS) throw new Error(`expected ${RECORDS} records, found ${records}`);
  });
  printTiming(name, { bestNs: timing.bestNs / RECORDS, medianNs: timing.medianNs / RECORDS });
}
