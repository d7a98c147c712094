/**
 * Installs and starts Portkey's gateway from npm on Node, without keys and records. With the HTTP adapter that npm
 * resolves for it, its streams are 500s, so it takes no part in stream cases
 * (https://github.com/Portkey-AI/gateway/issues/1389, opened 2025-10-23; seen on Node 20.20 in November 2026).
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';
import { startGroup } from '../process/start-group.ts';
import { startServing } from './start-serving.ts';
import { type Subject, SubjectUnavailable } from './subject.ts';

const VERSION = '1.15.2';
const INSTALL_TIMEOUT_MS = 120_000;

/** Kept between runs, so that only the first one installs. */
const INSTALL_DIR = join(tmpdir(), `tollgate-bench-portkey-${VERSION}`);
const ENTRY = join(INSTALL_DIR, 'node_modules/@portkey-ai/gateway/build/start-server.js');

async function install(): Promise<void> {
  if (existsSync(ENTRY)) return;
  process.stderr.write(`installing Portkey ${VERSION} into ${INSTALL_DIR} (once)\n`);
  mkdirSync(INSTALL_DIR, { recursive: true });
  writeFileSync(join(INSTALL_DIR, 'package.json'), '{ "private": true }\n');
  const group = startGroup({
    command: ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', `@portkey-ai/gateway@${VERSION}`],
    cwd: INSTALL_DIR,
  });
  const timer = setTimeout(() => void group.stop(), INSTALL_TIMEOUT_MS);
  const status = await group.exited;
  clearTimeout(timer);
  if (status !== 0 || !existsSync(ENTRY)) {
    throw new SubjectUnavailable(`npm install @portkey-ai/gateway@${VERSION} failed:\n${group.outputTail()}`);
  }
}

export const portkey: Subject = {
  name: 'portkey',
  title: `Portkey ${VERSION}`,
  protocol: 'chat',
  probePath: null,
  async start({ upstreamPort }) {
    if (Bun.which('node') === null) throw new SubjectUnavailable('Portkey needs node, which is not on PATH');
    if (Bun.which('npm') === null) throw new SubjectUnavailable('Portkey is installed by npm, which is not on PATH');
    await install();
    const port = findFreePort();
    const { group } = await startServing(
      { command: ['node', ENTRY, `--port=${port}`, '--headless'], cwd: INSTALL_DIR },
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
