/** Owns the command line of the fake provider: `bun gateway/test/fake-upstream/main.ts --port N [--recordings DIR] [--keep-calls N]`. */
import { parseArgs } from 'node:util';
import { startFakeUpstream } from './start-fake-upstream.ts';

function parseCount(flag: string, text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new Error(`--${flag} is ${JSON.stringify(text)}, expected a whole number`);
  return Number(text);
}

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    recordings: { type: 'string' },
    'keep-calls': { type: 'string', default: '100000' },
  },
});

const fake = await startFakeUpstream({
  port: parseCount('port', values.port),
  keepCallsMax: parseCount('keep-calls', values['keep-calls']),
  ...(values.recordings === undefined ? {} : { recordingsDir: values.recordings }),
});
console.log(`listening ${fake.port}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    fake.stop().then(() => process.exit(0));
  });
}
