/** Tests that a started process is alone in its group, does not inherit our secrets, and never outlives us. */
import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { readProcessTree } from './process-usage.ts';
import { startGroup } from './start-group.ts';

const MODULE = fileURLToPath(new URL('start-group.ts', import.meta.url));

/** Resolves when no process of the group is running; the test's own time limit ends the wait. */
async function waitUntilGone(pid: number): Promise<void> {
  while (readProcessTree(pid).some(({ ended }) => !ended)) await new Promise(setImmediate);
}

describe('a started group', () => {
  test('sees none of our environment but a few harmless names', async () => {
    process.env.OPENAI_API_KEY = 'sk-ours';
    const group = startGroup({ command: ['env'], env: { MINE: 'yes' } });
    await group.waitForOutput(/MINE=yes/, 5000);
    await group.exited;
    delete process.env.OPENAI_API_KEY;
    expect(group.outputTail()).not.toContain('sk-ours');
    expect(group.outputTail()).toContain('NODE_ENV=production');
  });

  test('gives its keys to the caller, and masks them in messages', async () => {
    const key = `tg_${'aB3'.repeat(16)}z`;
    const group = startGroup({ command: ['sh', '-c', `echo "key ${key}"; read -r _`] });
    expect((await group.waitForOutput(/tg_[0-9A-Za-z]{49}/, 5000))[0]).toBe(key);
    await group.exited;
    expect(group.outputTail()).toBe('key tg_[masked]');
  });

  test('says so, with its last words, when it ends without the words waited for', async () => {
    const group = startGroup({ command: ['sh', '-c', 'echo no such file >&2; exit 3'] });
    expect(group.waitForOutput(/ready/, 5000)).rejects.toThrow('no such file');
    expect(await group.exited).toBe(3);
  });

  test('stops with all its children, even where the leader is gone first', async () => {
    const group = startGroup({ command: ['sh', '-c', 'sleep 60 & sleep 60 & echo up; exit 0'] });
    await group.waitForOutput(/up/, 5000);
    await group.stop();
    await waitUntilGone(group.pid);
  });

  test('dies when the bench is killed without warning', async () => {
    const script = `import { startGroup } from '${MODULE}';
      console.log('group', startGroup({ command: ['sleep', '60'] }).pid);`;
    const bench = startGroup({ command: [process.execPath, '-e', script] });
    const pid = Number((await bench.waitForOutput(/group (\d+)/, 5000))[1]);
    expect(readProcessTree(pid)).toHaveLength(1);
    process.kill(bench.pid, 'SIGKILL');
    await bench.exited;
    await waitUntilGone(pid);
  });
});
