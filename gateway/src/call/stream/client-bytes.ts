/**
 * Chooses the bytes that a streaming client gets for a record: upstream's own, or, if formats differ, only rewritten
 * ones.
 */
import { rawBytes, type SkimmedRecords, type StreamRecord } from '../../framing/framing.ts';
import { BLANK_LINE, LineEndKeeper, wholeRecord } from './record-bytes.ts';

const NOTHING = Buffer.alloc(0);

export interface ClientBytes {
  /** For a record without content: a comment, a blank line, a ping. */
  silent(record: StreamRecord): Uint8Array;
  /** Offset of the client's bytes in a record that is passed on. */
  startOf(record: StreamRecord | SkimmedRecords): number;
  /** For a record that is replaced. */
  replaced(replacement: Uint8Array): Uint8Array;
  /** For a record that is withheld. */
  withheld(record: StreamRecord): Uint8Array;
  /** For the last record of the stream. */
  last(record: StreamRecord, replacement: Buffer | null): Buffer;
  /** Sent after a record that no blank line ended. */
  readonly missingBlank: Uint8Array;
}

/** Upstream's bytes unchanged, with the line ends around withheld records kept intact. */
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

/** None of upstream's bytes; only replacements. */
export const rewrittenBytes: ClientBytes = {
  silent: () => NOTHING,
  startOf: (record) => record.end,
  replaced: (replacement) => replacement,
  withheld: () => NOTHING,
  last: (_record, replacement) => replacement ?? NOTHING,
  missingBlank: NOTHING,
};
