/** Tests that sessions which have ended leave nothing behind. */
import { expect, test } from 'bun:test';
import { openStore } from '../../store/sqlite/open-store.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { SESSION_MS_MAX, sweepSessions } from './sessions.ts';

const newFolder = temporaryFolders();
const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;

test('sessions that have ended by themselves are deleted with their address and browser', async () => {
  const { people, close } = await openStore({ dataDir: newFolder() });
  const email = 'ada@example.com';
  const person = { id: 'person_1', name: 'Ada', email, unique_email: email, email_verified: 1, account: null } as const;
  const times = { created_at_ms: 1, updated_at_ms: 1, seen_at_ms: null, time_zone: null, second_factor: 0 } as const;
  await people.save([{ of: 'person', insert: { ...person, ...times } }]);
  for (const [id, created_at_ms, seen_at_ms] of [
    ['used', NOW_MS - 29 * DAY_MS, NOW_MS],
    ['silent', NOW_MS - 8 * DAY_MS, NOW_MS - 7 * DAY_MS],
    ['old', NOW_MS - SESSION_MS_MAX, NOW_MS - 1],
  ] as const) {
    const expires_at_ms = created_at_ms + SESSION_MS_MAX;
    const row = { id, token: id, person: 'person_1', address: '192.0.2.7', client: 'Firefox' };
    await people.save([{ of: 'person_session', insert: { ...row, created_at_ms, seen_at_ms, expires_at_ms } }]);
  }
  expect(await sweepSessions(people, NOW_MS)).toBe(2);
  expect((await people.find('person_session', { where: [] })).map(({ id }) => id)).toEqual(['used']);
  expect(await sweepSessions(people, NOW_MS)).toBe(0);
  await close();
});
