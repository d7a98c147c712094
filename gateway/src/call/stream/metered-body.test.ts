/** Tests that a burst is read record by record, at most one record beyond what is held, and that none of it is lost. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BEDROCK_MESSAGES } from '../../framing/bedrock-messages.ts';
import type { Framing } from '../../framing/framing.ts';
import { SSE, startSseDecoder } from '../../framing/sse-decoder.ts';
import { encodeChunk } from '../../framing/testing/encode-frame.ts';
import { MeteredBody, type MeteredReader } from './metered-body.ts';

const HEAD = { status: 200, headers: [], framing: 'close', lengthBytes: 0, keepAlive: false } as const;

/** The end of the whole records from `start` on, and the bytes of their data. */
function preview(bytes: Uint8Array, start: number) {
  const end = SSE.lastRecordEnd(bytes, start, bytes.length);
  const records = startSseDecoder().push(bytes.subarray(start, end));
  const data = records.reduce((sum, one) => sum + (one.kind === 'event' ? one.dataEnd - one.dataStart : 0), 0);
  return { end, data };
}

/**
 * A reader that counts each byte of an event's data as a byte of output, with a hold for this many. `knows`: the
 * output of unread records is known.
 */
function rig(held: number, knows = false, framing: Framing = SSE) {
  const reports: string[] = [];
  const shares: number[] = [];
  const decoder = framing.startDecoder(1_000_000, null);
  const state = { held, output: 0, largest: 0, text: '' };
  const reader: MeteredReader = {
    onHead: ({ status }) => reports.push(`head ${status}`),
    onBody(span) {
      state.text += Buffer.from(span).toString('latin1');
      decoder.feed(span, (record) => {
        if (record.kind !== 'event') return;
        const size = record.dataEnd - record.dataStart;
        state.output += size;
        state.largest = Math.max(state.largest, size);
      });
    },
    onEnd: () => reports.push('end'),
    onFailure: ({ kind }) => reports.push(kind),
    onBacklog: (bytes) => reports.push(`waits ${bytes}`),
    onCaughtUp: () => reports.push('caught up'),
  };
  const coversMore = (bytes: number) => state.output + bytes <= state.held;
  const meter = {
    covers: () => coversMore(0),
    coversMore,
    coveredEnd(bytes: Uint8Array, start: number) {
      const { end, data } = preview(bytes, start);
      return knows && coversMore(data) ? end : start;
    },
    expect: (share: number) => shares.push(share),
  };
  const body = new MeteredBody(reader, meter, framing);
  body.onHead(HEAD);
  return { body, state, reports, shares };
}

const record = (size: number) => `data: ${'x'.repeat(size)}\n\n`;

test('covered bytes are passed on unchanged, in one piece', () => {
  const { body, state, reports } = rig(1_000);
  const text = record(3).repeat(50);
  body.onBody(Buffer.from(text));
  body.onEnd();
  expect([state.text, state.output, reports]).toEqual([text, 150, ['head 200', 'end']]);
});

test('records with little output are read in one piece where their output is covered', () => {
  const text = record(1).repeat(500);
  const pieces = (knows: boolean) => {
    const { body, state, shares } = rig(500, knows);
    body.onBody(Buffer.from(text));
    expect([state.text, state.output]).toEqual([text, 500]);
    return shares.length;
  };
  expect([pieces(true), pieces(false) > 20]).toEqual([1, true]);
});

test('a burst is read up to the first record that is not covered; the rest waits, and so does the end', () => {
  const { body, state, reports } = rig(1_000);
  const text = record(4).repeat(2_000);
  body.onBody(Buffer.from(text));
  body.onEnd();
  expect(state.output).toBe(1_004);
  expect(reports).toEqual(['head 200', `waits ${text.length - state.text.length}`]);
  state.held = 8_000;
  body.goOn();
  expect([state.text, state.output, reports.slice(-2)]).toEqual([text, 8_000, ['caught up', 'end']]);
});

test('the meter gets the number of unread bytes of a burst', () => {
  const { body, shares } = rig(10);
  body.onBody(Buffer.from(record(4).repeat(9)));
  expect(shares.slice(0, 2)).toEqual([8, 7 / 2]);
});

test('dropped bytes are never read, and the end is reported', () => {
  const { body, state, reports } = rig(10);
  body.onBody(Buffer.from(record(4).repeat(9)));
  body.onFailure({ kind: 'reset', message: 'gone', sent: true, stale: false });
  body.drop();
  body.goOn();
  expect([state.output, reports.at(-1)]).toEqual([12, 'reset']);
});

/** A record as Bedrock wraps it; one character per byte. */
const wrapped = (size: number) => encodeChunk(`{"type":"ping","x":"${'x'.repeat(size)}"}`).toString('latin1');

test.each([
  [SSE, record],
  [BEDROCK_MESSAGES, wrapped],
] as const)(
  'for any division and any time of an extension: in order, complete, and at most one record beyond the hold (%#)',
  (framing, render) => {
    const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 60, size: 'max' });
    const steps = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 4_000 }), more: fc.nat(1_500) }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(sizes, steps, fc.nat(3_000), fc.boolean(), (records, cuts, held, knows) => {
        const text = records.map(render).join('');
        const { body, state, reports } = rig(held, knows && framing === SSE, framing);
        const expectWithin = () => expect(state.output).toBeLessThanOrEqual(state.held + 2 * state.largest);
        for (let at = 0, step = 0; at < text.length; step++) {
          const { bytes, more } = cuts[step % cuts.length] ?? { bytes: 1, more: 0 };
          body.onBody(Buffer.from(text.slice(at, at + bytes), 'latin1'));
          at += bytes;
          expectWithin();
          state.held += more;
          body.goOn();
          expectWithin();
        }
        body.onEnd();
        state.held = text.length;
        body.goOn();
        expect([state.text, reports.filter((one) => one === 'end')]).toEqual([text, ['end']]);
      }),
    );
  },
);
