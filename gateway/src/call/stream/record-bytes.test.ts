/** Tests record-bytes.ts: line ends survive a withheld record. */
import { describe, expect, test } from 'bun:test';
import { rawBytes, type StreamRecord } from '../../framing/framing.ts';
import { startSseDecoder } from '../../framing/sse-decoder.ts';
import { LineEndKeeper, wholeRecord } from './record-bytes.ts';

describe('a record withheld from a stream', () => {
  const texts = (lineEnd: string) => ['a', 'withheld', 'b'].map((name) => `data: ${name}${lineEnd}${lineEnd}`);

  test.each(['\n', '\r\n', '\r'])('leaves the lines of the others whole at every split (line end %j)', (lineEnd) => {
    const bytes = Buffer.from(texts(lineEnd).join(''));
    const wanted = texts(lineEnd)
      .filter((text) => !text.includes('withheld'))
      .join('');
    for (let one = 1; one < bytes.length; one++) {
      for (let two = one; two < bytes.length; two++) {
        const parts = [bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two)];
        const decoder = startSseDecoder();
        const records = [...parts.flatMap((part) => decoder.push(part)), ...decoder.finish()];
        const keeper = new LineEndKeeper();
        const passed = records
          .filter((record): record is StreamRecord => record.kind !== 'problem')
          .map((record) => {
            const withheld = Buffer.from(rawBytes(record)).includes('withheld');
            return Buffer.from(withheld ? keeper.withheld(record) : keeper.passed(rawBytes(record)));
          });
        expect(Buffer.concat(passed).toString()).toBe(wanted);
      }
    }
  });
});

test.each([
  ['data: x\r\n\r', 'data: x\r\n\r\n'],
  ['data: x\r\n\r\n', 'data: x\r\n\r\n'],
  ['data: x\r\r', 'data: x\r\r'],
  ['data: x\n\n', 'data: x\n\n'],
])('the last record %j leaves as %j', (given, wanted) => {
  expect(wholeRecord(Buffer.from(given)).toString()).toBe(wanted);
});
