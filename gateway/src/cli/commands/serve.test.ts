/** Tests that flags of the server with wrong values are wrong usage, as those of other commands. */
import { expect, test } from 'bun:test';
import { Command } from 'commander';
import { register } from './serve.ts';

test.each([
  ['--port', 'abc', 'a port from 0 to 65535'],
  ['--port', '65536', 'a port from 0 to 65535'],
  ['--port', '', 'a port from 0 to 65535'],
  ['--host', 'http://x', 'an address or host name'],
  ['--host', '', 'an address or host name'],
])('%s %p is refused before anything starts', async (flag, value, expected) => {
  let stderr = '';
  const writeErr = (text: string) => {
    stderr += text;
  };
  const program = new Command().configureOutput({ writeErr }).exitOverride();
  register(program, { dataDir: '/nowhere', stdout: writeErr, stderr: writeErr, nowMs: Date.now });
  const refused = program.parseAsync(['serve', flag, value], { from: 'user' });
  await expect(refused).rejects.toMatchObject({ code: 'commander.invalidArgument' });
  expect(stderr).toContain(`found ${JSON.stringify(value)}, expected ${expected}.`);
});
