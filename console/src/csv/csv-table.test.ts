/** Tests that tables exported here match the gateway's: the same cells and the same amounts. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatNanoUsd } from '../../../gateway/src/billing/money.ts';
import { csvLine } from '../../../gateway/src/lib/tables/csv-line.ts';
import { csvTable, listText, usdText } from './csv-table.ts';

const cell = fc.oneof(
  fc.string(),
  fc.stringMatching(/^[=+\-@|＝－＠\s\u200b',"]{0,3}[\w.]{0,4}$/),
  fc.integer().map(String),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constant(null),
);

describe('csvTable', () => {
  test('writes a header line and one line per row', () => {
    const columns = [['name', ({ name }: { name: string }) => name]] as const;
    expect(csvTable(columns, [{ name: '=1+1' }, { name: '-5' }, { name: 'a, b' }])).toBe(
      'name\r\n"\'=1+1"\r\n-5\r\n"a, b"\r\n',
    );
  });
  test('writes cells like the gateway', () => {
    fc.assert(
      fc.property(cell, cell, (one, other) => {
        const written = csvTable([['a', () => one] as const, ['b', () => other] as const], [{}]);
        expect(written).toBe(`a,b\r\n${csvLine([one, other])}`);
      }),
    );
  });
});

test('writes amounts like the gateway, to the nano-dollar', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (nanoUsd) => {
      expect(usdText(String(nanoUsd))).toBe(formatNanoUsd(nanoUsd));
    }),
  );
  expect(usdText(null)).toBeNull();
});

test('writes a list as one cell, and null as an empty one', () => {
  expect([listText(['a', 'b']), listText(null)]).toEqual(['a, b', null]);
});
