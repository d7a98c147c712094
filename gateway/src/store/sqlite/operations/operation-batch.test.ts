/** Tests that operations are unpacked from a batch's text as they were packed, whatever their texts contain. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { heldCall, settledCall, usageOf } from '../../testing/sample-call.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import {
  keepAbandonment,
  keepCheckpoint,
  keepExtension,
  keepHold,
  keepMovement,
  keepRecord,
  keepSettlement,
  parseOperations,
  renderOperations,
} from './ledger-operations.ts';

const text = fc.oneof(fc.string(), fc.constantFrom('\n', '["\n"]', '\u2028', '☂', '\ud800', '"\\n'));
const operation = fc
  .record({ id: text, other: text, of: fc.constantFrom('h', 's', 'r', 'c', 'e', 'a', 'm'), output: fc.nat(99) })
  .map(({ id, other, of, output }) => {
    const attempts = [{ provider: other, model: other, status: null, error: other, duration_ms: output }];
    switch (of) {
      case 'h':
        return keepHold(heldCall(id, BigInt(output), other));
      case 's':
        return keepSettlement(settledCall(id, { held: 50n, output, changes: { key_name: other, attempts } }));
      case 'r':
        return keepRecord(sampleRecord(id, { key_name: other, attempts }));
      case 'c':
        return keepCheckpoint({ call_id: id, usage: usageOf(output), cost: BigInt(output) });
      case 'e':
        return keepExtension(id, output, 5n);
      case 'a':
        return keepAbandonment(id);
      default:
        return keepMovement('topup', { id, account: other, amount: BigInt(output), note: null, at_ms: 1 });
    }
  });

test('operations come out of the text of a batch as they went in', () => {
  fc.assert(
    fc.property(fc.array(operation), (operations) => {
      expect(parseOperations(renderOperations(operations))).toEqual(operations);
    }),
  );
});

test('texts are not escaped: each is a line of its own', () => {
  const batch = renderOperations([
    keepHold(heldCall('a', 1n)),
    keepExtension('a', 1, 1n),
    keepRecord(sampleRecord('b')),
  ]);
  const [, draft, attempts, ...rest] = batch.split('\n');
  expect(draft).toStartWith('[1790000000000,"default",');
  expect(JSON.parse(attempts ?? '')).toEqual(sampleRecord('b').attempts);
  expect(rest).toEqual([]);
});
