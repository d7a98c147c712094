/**
 * Requests the console API paths of its arguments one after the other, repeatedly until it is killed: `ask-again.ts URL
 * KEY PATH...`. A separate process from the one that drives calls, so that reading responses does not delay those.
 */

import { askNow } from './routes-to-ask.ts';

const [url = '', key = '', ...paths] = process.argv.slice(2);
async function askAgain(): Promise<never> {
  for (;;) {
    for (const path of paths) {
      const response = await fetch(`${url}/app/api${askNow(path)}`, { headers: { authorization: `Bearer ${key}` } });
      await response.arrayBuffer();
    }
  }
}

await askAgain();
