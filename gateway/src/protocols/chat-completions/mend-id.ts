/** Owns giving a chunk another id while every other byte of its record stays what it was. Decides nothing about which id. */
import { scanJson } from '../../wire/json-scan.ts';
import { spliceJson } from '../../wire/json-splice.ts';
import { rawBytes, type SseRecord } from '../../wire/sse-record.ts';

const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000, outlineDepth: 1, outlineNodesMax: 1_000_000 };
const LINE_END = /\r\n|\r|\n/;
const DATA_LINE = /^data(?::|$)/;

/** The record with `id` in its data, replaced in place or added last; null where the data is no JSON object of one meaning. */
export function withId(record: SseRecord, id: string): Buffer | null {
  const { bytes, start, end, dataBytes, dataStart, dataEnd } = record;
  const outline = scanJson(dataBytes.subarray(dataStart, dataEnd), SCAN_LIMITS);
  if (!outline.ok || outline.root.kind !== 'object') return null;
  const mended = spliceJson(outline, [{ set: ['id'], json: JSON.stringify(id) }]);
  if (dataBytes === bytes)
    return Buffer.concat([bytes.subarray(start, dataStart), mended, bytes.subarray(dataEnd, end)]);
  return renderDataLines(record, mended);
}

/** Data that came in several lines goes out in several; the record's other lines go before them. */
function renderDataLines(record: SseRecord, data: Uint8Array): Buffer {
  const raw = Buffer.from(rawBytes(record)).toString('latin1');
  const others = raw.split(LINE_END).filter((line) => line !== '' && !DATA_LINE.test(line));
  const lines = Buffer.from(data).toString('latin1').split('\n');
  return Buffer.from([...others, ...lines.map((line) => `data: ${line}`), '', ''].join('\n'), 'latin1');
}
