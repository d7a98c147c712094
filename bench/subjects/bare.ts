/** Owns the starting of the bare Bun proxy, which the table's ratios are against. */
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../process/free-port.ts';
import { startServing } from './start-serving.ts';
import type { Subject } from './subject.ts';

const SCRIPT = fileURLToPath(new URL('bare-proxy.ts', import.meta.url));

export const bare: Subject = {
  name: 'bare',
  title: 'bare Bun proxy',
  protocol: 'chat',
  async start({ upstreamPort }) {
    const port = findFreePort();
    const command = [process.execPath, SCRIPT, String(port), String(upstreamPort)];
    const { group } = await startServing({ command }, port, async () => {});
    return { group, port, headers: {} };
  },
};
