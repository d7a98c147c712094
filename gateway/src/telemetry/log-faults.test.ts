/** Tests that faults outside requests are logged and do not end the process. */
import { expect, test } from 'bun:test';

test('a fault in a timer and a promise that is not awaited are logged with their place, and the process goes on', () => {
  const script = `
    import { logFaults } from '${import.meta.dirname}/log-faults.ts';
    logFaults({ error: ({ cause }, words) => console.log(words.slice(0, 24), cause.split('\\n').slice(0, 2).join(' ')) });
    function late() { throw new RangeError('too late'); }
    setTimeout(late, 1);
    setTimeout(() => void Promise.reject(new Error('unheard')), 2);
    setTimeout(() => console.log('alive'), 30);
  `;
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, '-e', script]);
  expect([exitCode, stderr.toString()]).toEqual([0, '']);
  const [timer, promise, end] = stdout.toString().split('\n');
  expect(timer).toMatch(/^a fault of the gateway o.* RangeError: too late +at late /);
  expect(promise).toMatch(/^a fault of the gateway o.* Error: unheard/);
  expect(end).toBe('alive');
});
