/** Counts a request's images, audio and documents and their bytes, which do not determine their token cost. */
import type { JsonNode } from '../../wire/json-node.ts';

export interface MediaTally {
  bytes: number;
  parts: number;
}

/** Shorter members called `data` are text. */
const NESTED_BYTES_MIN = 1_024;
const DATA_KEY = '"data"';
const BASE64_MARK = '"base64"';
const QUOTE = 0x22;
const COLON = 0x3a;

export function tallyPart(tally: MediaTally, part: JsonNode): void {
  tally.bytes += part.end - part.start;
  tally.parts += 1;
}

/** Tool results are deeper than the outline reaches: finds media by the name of the member that holds its bytes. */
export function tallyNested(tally: MediaTally, { outline, start, end }: JsonNode): void {
  if (end - start < NESTED_BYTES_MIN) return;
  const { bytes } = outline;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  if (!buffer.includes(BASE64_MARK)) return;
  for (let at = buffer.indexOf(DATA_KEY); at !== -1; at = buffer.indexOf(DATA_KEY, at + 1)) {
    const opening = openingQuote(buffer, at + DATA_KEY.length);
    const closing = opening === -1 ? -1 : buffer.indexOf(QUOTE, opening + 1);
    if (closing - opening < NESTED_BYTES_MIN) continue;
    tally.bytes += closing - opening;
    tally.parts += 1;
    at = closing;
  }
}

/** The quote after a colon; -1: the value is not a string, or this is not a member. */
function openingQuote(buffer: Buffer, from: number): number {
  let colon = false;
  for (let at = from; at < buffer.length; at++) {
    const byte = buffer[at];
    if (byte === QUOTE) return colon ? at : -1;
    if (byte === COLON && !colon) colon = true;
    else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return -1;
  }
  return -1;
}
