/** Tests usage-anomalies.ts: the operator gets a report of each provider and model once an hour, with the number of calls. */
import { expect, test } from 'bun:test';
import { type UsageAnomaly, UsageAnomalyLog } from './usage-checks.ts';

const HOUR_MS = 3_600_000;
const odd = { provider: 'lab', model: 'm', flags: ['sum'], requestId: 'req_1' } as const;

test('is told once an hour for each provider and model, with the calls since', () => {
  const told: UsageAnomaly[] = [];
  const log = new UsageAnomalyLog((one) => told.push(one));
  for (let call = 0; call < 5; call++) log.note(odd, call);
  log.note({ ...odd, model: 'other' }, 6);
  log.note({ ...odd, provider: 'other' }, 7);
  expect(told.map(({ provider, model, calls }) => [provider, model, calls])).toEqual([
    ['lab', 'm', 1],
    ['lab', 'other', 1],
    ['other', 'm', 1],
  ]);
  log.note({ ...odd, requestId: 'req_2' }, HOUR_MS - 1);
  expect(told).toHaveLength(3);
  log.note({ ...odd, requestId: 'req_3' }, HOUR_MS);
  expect(told.at(-1)).toEqual({ ...odd, requestId: 'req_3', calls: 6 });
});
