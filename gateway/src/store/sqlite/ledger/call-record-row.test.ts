/** Tests that records survive their table rows, and that rows with former words can be read. */
import { expect, test } from 'bun:test';
import type { CallRecord } from '../../ports/records.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';
import { CALL_RECORD_COLUMNS, callRecordOfRow, callRecordValues, renderAttempts } from './call-record-row.ts';

/** The row that the insert statement makes of a record. */
function rowOf(record: CallRecord): CallRecordRow {
  const values = [...callRecordValues(record), renderAttempts(record)];
  const columns = Object.fromEntries(CALL_RECORD_COLUMNS.map((column, at) => [column, values[at]]));
  return { ...columns, trace_id: record.trace_id, cached_from: null, masked: null } as unknown as CallRecordRow;
}

test('a record survives its row', () => {
  for (const error of [null, 'upstream_failed']) {
    const record = sampleRecord('req_1', { error, trace_id: error });
    expect(callRecordOfRow(rowOf(record))).toEqual(record);
  }
});

test.each([
  ['upstream_nonsense', 'upstream_malformed'],
  ['upstream_refused_us', 'upstream_credential'],
  ['store_away', 'store_unavailable'],
])('the former failure kind %s is read as %s', (former, current) => {
  const [attempt] = sampleRecord('req_1').attempts;
  if (attempt === undefined) throw new Error('the sample has an attempt');
  const stored = sampleRecord('req_1', { error: former, attempts: [{ ...attempt, error: former }] });
  const read = callRecordOfRow(rowOf(stored));
  expect([read.error, read.attempts[0]?.error]).toEqual([current, current]);
});
