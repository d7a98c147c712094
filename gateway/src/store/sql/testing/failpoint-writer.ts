/**
 * A writer thread that kills its process, as kill -9 does, at a moment of its work: the variable says which and at which
 * passing, as in `before-commit:3`. For tests.
 */
import { serveWriter } from '../serve-writer.ts';

declare const self: Worker;

const [armed = '', passing = '1'] = (process.env.TOLLGATE_TEST_FAILPOINT ?? '').split(':');
let left = Number(passing);

serveWriter(self, (point) => {
  if (point !== armed) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
});
