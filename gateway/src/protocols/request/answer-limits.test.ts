/** Tests how stop sequences are split into those for the provider and those for which the gateway looks. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../../test/harness/cpu-clock.ts';
import { refusal } from '../messages/testing/request-rig.ts';
import { splitStop } from './answer-limits.ts';

const texts = (count: number, length = 1) =>
  Array.from({ length: count }, (_, index) => `${index}`.padStart(length, 'x'));

test('takes as many as a body holds, in linear time', () => {
  const stop = texts(400_000);
  const elapsed = startCpuClock();
  expect(splitStop({ stop, named: {} }, () => true)).toEqual({ sent: stop, searched: [] });
  expect(elapsed()).toBeLessThan(4_000);
}, 60_000);

test('more than the gateway looks for are refused in the words of the caller', () => {
  const split = (stop: readonly string[]) => splitStop({ stop, named: { stop: 'stop_sequences' } }, () => false);
  expect(split(texts(1_000)).searched).toHaveLength(1_000);
  for (const stop of [texts(1_001), texts(2, 32_769)]) {
    const refused = refusal(() => split(stop));
    expect(refused?.param).toBe('stop_sequences');
    expect(refused?.message).toContain(`found ${stop.length} texts`);
  }
});
