/** Tests queries over the audit log: days by the account's clocks, and what they say of a mistake. */
import { expect, test } from 'bun:test';
import { checkValues, readAuditQuery } from './read-audit-query.ts';

const times = (q: string, zone: string) =>
  readAuditQuery(q, zone).flatMap(({ ranges }) =>
    ranges.map(({ from, to }) => [from, to].map((ms) => (ms === null ? null : new Date(Number(ms)).toISOString()))),
  );

test.each([
  ['date:2026-11-21', 'UTC', '2026-11-21T00:00:00.000Z', '2026-11-21T23:59:59.999Z'],
  ['date:2026-11-21', 'Pacific/Kiritimati', '2026-11-20T10:00:00.000Z', '2026-11-21T09:59:59.999Z'],
  ['date:2026-11-21', 'Pacific/Pago_Pago', '2026-11-21T11:00:00.000Z', '2026-11-22T10:59:59.999Z'],
  // Clocks go forward on that day.
  ['date:2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-29T21:59:59.999Z'],
  ['date:2026-11-01..2026-11-21', 'UTC', '2026-11-01T00:00:00.000Z', '2026-11-21T23:59:59.999Z'],
  ['date>2026-11-20', 'UTC', '2026-11-21T00:00:00.000Z', null],
  ['date>=2026-11-20', 'UTC', '2026-11-20T00:00:00.000Z', null],
  ['date<2026-11-20', 'UTC', null, '2026-11-19T23:59:59.999Z'],
  ['date<=2026-11-20', 'UTC', null, '2026-11-20T23:59:59.999Z'],
] as const)('%s in %s', (q, zone, from, to) => {
  expect(times(q, zone)).toEqual([[from, to]]);
});

test.each([
  ['acton:keys.create', 'q: found the field "acton", expected action?'],
  ['ada', 'q: found "ada", expected field:value with one of action, actor, target, workspace, date'],
  ['date:2026-02-31', 'q: date: found "2026-02-31", expected a day, such as date:2026-11-21'],
  ['date:yesterday', 'q: date: found "yesterday", expected a day'],
  ['actor>ada', 'q: actor: found >, expected actor:value'],
])('%s is refused', (q, message) => {
  expect(() => readAuditQuery(q, 'UTC')).toThrow(message);
});

test('a value that no entry has is named with the nearest', async () => {
  const check = (q: string) => checkValues(readAuditQuery(q, 'UTC'), async () => ['keys.create', 'keys.rotate']);
  expect(check('action:keys.creat')).rejects.toThrow(
    'action: found "keys.creat", which no entry has; expected keys.create?',
  );
  expect(check('target:zzzzzzzz')).rejects.toThrow('expected the target of an entry');
  await check('action:keys.create,keys.rot* -action:nothing workspace:none date:2026-11-21');
});
