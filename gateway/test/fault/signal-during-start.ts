/** Sends the process a SIGHUP once it has its data folder. Preloaded. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const lock = join(process.env.TOLLGATE_DATA_DIR ?? '', 'lock.db');
const looks = setInterval(() => {
  if (!existsSync(lock)) return;
  clearInterval(looks);
  process.kill(process.pid, 'SIGHUP');
}, 1);
