/** Buffers the bytes of one connection that are not yet a request. Parses only when enough of them could be one. */
import { type ParsedRequest, parseRequest } from './parse-request.ts';

/** Collects bytes and returns requests in order of arrival. */
export interface RequestBuffer {
  /** Copies the bytes. */
  add(bytes: Uint8Array): void;
  /** Removes and returns the next whole request; `malformed` empties the buffer; null if more must arrive first. */
  next(): Exclude<ParsedRequest, { kind: 'more' }> | null;
  heldBytes(): number;
}

/** An empty buffer. */
export function createRequestBuffer(): RequestBuffer {
  let chunks: Buffer[] = [];
  let heldBytes = 0;
  let neededBytes = 1;

  const keep = (rest: Buffer | null): void => {
    chunks = rest === null || rest.byteLength === 0 ? [] : [rest];
    heldBytes = rest?.byteLength ?? 0;
    neededBytes = 1;
  };

  return {
    add: (bytes) => {
      chunks.push(Buffer.from(bytes));
      heldBytes += bytes.byteLength;
    },
    next: () => {
      if (heldBytes < neededBytes) return null;
      const held = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, heldBytes);
      const parsed = parseRequest(held);
      if (parsed.kind === 'more') {
        chunks = [held];
        neededBytes = parsed.needed;
        return null;
      }
      keep(parsed.kind === 'request' ? held.subarray(parsed.taken) : null);
      return parsed;
    },
    heldBytes: () => heldBytes,
  };
}
