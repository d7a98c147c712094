/** Tests the log line of a request: one JSON object, whatever its texts contain. */
import { expect, test } from 'bun:test';
import { sampleRecord } from '../store/testing/sample-record.ts';
import { renderRequestLine } from './request-log.ts';

test('a line is one JSON object without line breaks, also with hostile texts', () => {
  const model = `a"b\\c\n\u0000\u2028\u001b[2J${'x'.repeat(500)}`;
  const line = renderRequestLine(sampleRecord('req_1', { model, finish_reason: '"' }), model, 'operator', null, 0);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(line).not.toContain('\u001b');
  const parsed = JSON.parse(line);
  expect(parsed).toMatchObject({ level: 30, time: '1970-01-01T00:00:00.000Z', msg: 'request', payer: 'operator' });
  expect(parsed.model).toBe(`${model.slice(0, 256)}…`);
});

test('members that do not apply are left out, and a model without a price costs null', () => {
  const record = sampleRecord('req_1', {
    attempts: [],
    provider: null,
    error: null,
    ttfb_ms: null,
    cost_nano_usd: null,
  });
  const parsed = JSON.parse(renderRequestLine(record, null, 'account', null, 1));
  for (const name of ['trace_id', 'route', 'provider', 'target', 'error', 'ttfb_ms', 'payer']) {
    expect(parsed).not.toHaveProperty(name);
  }
  expect(parsed.cost_nano_usd).toBeNull();
});
