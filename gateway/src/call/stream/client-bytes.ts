/** Owns which bytes a streaming client gets for a record: upstream's own, or, where formats differ, only what was made of them. */
import { rawBytes, type SseRecord, type SseSkimmed } from '../../framing/sse-record.ts';
import { BLANK_LINE, LineEndKeeper, wholeRecord } from './record-bytes.ts';

const NOTHING = Buffer.alloc(0);

export interface ClientBytes {
  /** Of a record that says nothing: a comment, a blank line, a ping. */
  silent(record: SseRecord): Uint8Array;
  /** Where the client's bytes of a record that is passed on begin. */
  startOf(record: SseRecord | SseSkimmed): number;
  /** In the place of a record. */
  replaced(replacement: Uint8Array): Uint8Array;
  /** Of a record that is withheld. */
  withheld(record: SseRecord): Uint8Array;
  /** Of the record that nothing follows. */
  last(record: SseRecord, replacement: Buffer | null): Buffer;
  /** Behind a record that no blank line ended. */
  readonly missingBlank: Uint8Array;
}

/** Upstream's bytes as they came, with the line ends around withheld records kept whole. */
export function bytesAsTheyCame(): ClientBytes {
  const lineEnds = new LineEndKeeper();
  return {
    silent: (record) => lineEnds.passed(rawBytes(record)),
    startOf: (record) => lineEnds.startOf(record),
    replaced: (replacement) => lineEnds.passed(replacement),
    withheld: (record) => lineEnds.withheld(record),
    last: (record) => wholeRecord(lineEnds.passed(rawBytes(record))),
    missingBlank: BLANK_LINE,
  };
}

/** None of upstream's bytes. */
export const rewrittenBytes: ClientBytes = {
  silent: () => NOTHING,
  startOf: (record) => record.end,
  replaced: (replacement) => replacement,
  withheld: () => NOTHING,
  last: (_record, replacement) => replacement ?? NOTHING,
  missingBlank: NOTHING,
};
