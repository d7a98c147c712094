/** Tests that a wrong flag is not reported as a wrong variable. */
import { expect, test } from 'bun:test';
import { renderConfigProblem } from '../../config/file/config-problem.ts';
import { loadConfig } from '../../config/load-config.ts';
import { nameFlag } from './serve.ts';

test('an invalid port or host is reported with its source', () => {
  const environment = { HOST: 'http://x', PORT: '99999' };
  const { problems } = loadConfig({ environment, cwd: import.meta.dir });
  expect(problems.map((problem) => renderConfigProblem(nameFlag(problem, { port: '99999' })))).toEqual([
    "environment: HOST: found 'http://x', expected an address or host name. Correct HOST, or unset it.",
    "command line: --port: found '99999', expected a port from 0 to 65535. Correct --port.",
  ]);
});
