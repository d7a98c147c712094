/**
 * Implements the command line of the fake provider: `bun gateway/test/fake-upstream/main.ts --port N [--recordings DIR]
 * [--keep-calls N] [--until-stdin-ends]`. The last option ends it when its standard input closes.
 */
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
    'until-stdin-ends': { type: 'boolean', default: false },
  },
});

const fake = await startFakeUpstream({
  port: parseCount('port', values.port),
  keepCallsMax: parseCount('keep-calls', values['keep-calls']),
  ...(values.recordings === undefined ? {} : { recordingsDir: values.recordings }),
});
console.log(`listening ${fake.port}`);

const stop = (): void => {
  fake.stop().then(() => process.exit(0));
};

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
if (values['until-stdin-ends']) process.stdin.once('end', stop).resume();
