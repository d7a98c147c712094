/**
 * A process that asks the console API for the paths of its arguments one after the other, again and again until it is killed:
 * `ask-again.ts URL KEY PATH...`. Apart from who drives calls, so that reading answers does not hold those up.
 */

const [url = '', key = '', ...paths] = process.argv.slice(2);
async function askAgain(): Promise<never> {
  for (;;) {
    for (const path of paths) {
      const response = await fetch(`${url}/app/api${path}`, { headers: { authorization: `Bearer ${key}` } });
      await response.arrayBuffer();
    }
  }
}

await askAgain();

export {};
