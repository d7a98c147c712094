/** Tests that changes of states are logged by their weight, alarms as errors with what to do. */
import { expect, test } from 'bun:test';
import type { HealthEvent } from '../routing/health/routing-state.ts';
import { logHealth } from './log-health.ts';

const AT = { scope: 'credential', provider: 'lab', model: null, credential: 'main', why: null } as const;

function logged(event: HealthEvent): readonly unknown[] {
  const lines: unknown[] = [];
  const line = (level: string) => (fields: object, words: string) => lines.push({ level, words, ...fields });
  logHealth({ info: line('info'), warn: line('warn'), error: line('error') } as never, event);
  return lines;
}

test.each([
  [{ kind: 'benched', ...AT, why: 'quota', isAlarm: true }, 'error', 'top it up'],
  [{ kind: 'benched', ...AT, why: 'credential', isAlarm: true }, 'error', 'refuses our credential'],
  [{ kind: 'opened', ...AT, scope: 'target', why: 'fault', isAlarm: false }, 'warn', 'a provider fails'],
  [{ kind: 'closed', ...AT, scope: 'target', isAlarm: false }, 'info', 'is back'],
  [{ kind: 'limp', route: 'm', isAlarm: true }, 'error', 'for a minute'],
] as const)('%o', (event, level, words) => {
  expect(logged(event)).toMatchObject([{ level, words: expect.stringContaining(words) }]);
});
