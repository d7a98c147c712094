/** Passes the bytes of an answer that has no records, such as sound, as they come. */
import type { Framing } from './framing.ts';

const BINARY = /^(?:audio|video)\/|^application\/(?:octet-stream|ogg)|^binary\/octet-stream/i;

export const BYTES: Framing = {
  name: 'bytes',
  isStream: (contentType) => contentType === '' || BINARY.test(contentType),
  beginsStream: () => false,
  startDecoder: (_recordBytesMax, skim) => ({
    feed(bytes, take) {
      skim?.(bytes, 0);
      take({ kind: 'skimmed', bytes, start: 0, end: bytes.length });
    },
    finish: () => [],
  }),
  firstRecordEnd: (_bytes, _from, to) => to,
  lastRecordEnd: (_bytes, _from, to) => to,
};
