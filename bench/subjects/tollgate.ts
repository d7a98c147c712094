/** Owns the starting of Tollgate as a customer runs it: keys, prices and records on, a fresh data folder. */
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';
import { UPSTREAM_MODELS } from '../upstream/choose-answer.ts';
import { startServing } from './start-serving.ts';
import { CHAT_PATH, START_TIMEOUT_MS, type Subject, SubjectUnavailable } from './subject.ts';

/** `tg_`, 43 characters of secret, 6 of checksum; printed once by the first start. */
const KEY = /tg_[0-9A-Za-z]{49}/;

function renderConfig(upstreamPort: number): string {
  const models = Object.keys(UPSTREAM_MODELS).map(
    (model) =>
      `  ${model}: { targets: [ { provider: lab } ], price: { input: 0.25, cache_read: 0.025, output: 2.00 } }\n`,
  );
  return `providers:
  lab: { kind: openai-compatible, base_url: http://127.0.0.1:${upstreamPort}/v1, api_key: none }
models:
${models.join('')}`;
}

export const tollgate: Subject = {
  name: 'tollgate',
  title: 'Tollgate',
  async start({ upstreamPort, scratchDir, tollgateCommand }) {
    try {
      accessSync(tollgateCommand, constants.X_OK);
    } catch {
      throw new SubjectUnavailable(`${tollgateCommand} is missing or cannot be executed; --tollgate names another one`);
    }
    const port = findFreePort();
    const config = join(scratchDir, 'tollgate.yaml');
    writeFileSync(config, renderConfig(upstreamPort));
    const { group, ready } = await startServing(
      {
        command: [tollgateCommand, 'serve', '--config', config, '--port', String(port)],
        cwd: scratchDir,
        env: { TOLLGATE_DATA_DIR: join(scratchDir, 'records') },
      },
      port,
      (started) => started.waitForOutput(KEY, START_TIMEOUT_MS),
    );
    return { group, port, path: CHAT_PATH, headers: { authorization: `Bearer ${ready[0]}` } };
  },
};
