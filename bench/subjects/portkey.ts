/**
 * Installs and starts Portkey's gateway from npm on Node, without keys and records. With the HTTP adapter that npm
 * resolves for it, its streams are 500s, so it takes no part in stream cases
 * (https://github.com/Portkey-AI/gateway/issues/1389, opened 2025-10-23; seen on Node 20.20 in November 2026).
 */
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';
import { installOnce } from './install.ts';
import { startServing } from './start-serving.ts';
import { type Subject, SubjectUnavailable } from './subject.ts';

const VERSION = '1.15.2';
const ENTRY = 'node_modules/@portkey-ai/gateway/build/start-server.js';
const INSTALL = ['install', '--prefix', '.', '--no-audit', '--no-fund', '--ignore-scripts'];

export const portkey: Subject = {
  name: 'portkey',
  title: `Portkey ${VERSION}`,
  protocol: 'chat',
  async start({ upstreamPort }) {
    if (Bun.which('node') === null) throw new SubjectUnavailable('Portkey needs node, which is not on PATH');
    if (Bun.which('npm') === null) throw new SubjectUnavailable('Portkey is installed by npm, which is not on PATH');
    const dir = await installOnce({
      name: `portkey-${VERSION}`,
      entry: ENTRY,
      commands: [['npm', ...INSTALL, `@portkey-ai/gateway@${VERSION}`]],
    });
    const port = findFreePort();
    const { group } = await startServing(
      { command: ['node', join(dir, ENTRY), `--port=${port}`, '--headless'], cwd: dir },
      port,
      async () => {},
    );
    return {
      group,
      port,
      headers: {
        authorization: 'Bearer x',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      },
    };
  },
};
