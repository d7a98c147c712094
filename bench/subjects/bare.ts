/** Starts the two bare Bun proxies that serve as baselines for Tollgate's cost: the blind and the keyed one. */
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../process/free-port.ts';
import { startServing } from './start-serving.ts';
import type { RunningSubject, Subject } from './subject.ts';

const BLIND = fileURLToPath(new URL('bare-proxy.ts', import.meta.url));
const KEYED = fileURLToPath(new URL('keyed-proxy.ts', import.meta.url));
const KEY = 'bench-key-of-the-keyed-proxy';

async function startProxy(
  script: string,
  upstreamPort: number,
  env: Readonly<Record<string, string>>,
): Promise<Omit<RunningSubject, 'headers'>> {
  const port = findFreePort();
  const command = [process.execPath, script, String(port), String(upstreamPort)];
  const { group } = await startServing({ command, env }, port, async () => {});
  return { group, port };
}

export const bare: Subject = {
  name: 'bare',
  title: 'bare Bun proxy, blind',
  protocol: 'chat',
  start: async ({ upstreamPort }) => ({ ...(await startProxy(BLIND, upstreamPort, {})), headers: {} }),
};

export const bareKeyed: Subject = {
  name: 'bare-keyed',
  title: 'bare Bun proxy, keyed',
  protocol: 'chat',
  start: async ({ upstreamPort }) => ({
    ...(await startProxy(KEYED, upstreamPort, { BENCH_KEY: KEY })),
    headers: { authorization: `Bearer ${KEY}` },
  }),
};
