/** Installs and starts LiteLLM's proxy in a virtual environment of Python: one worker, a master key, no database. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';
import { UPSTREAM_MODELS } from '../upstream/choose-answer.ts';
import { installOnce } from './install.ts';
import { startServing } from './start-serving.ts';
import { type Subject, SubjectUnavailable } from './subject.ts';

const VERSION = '1.99.4';
const ENTRY = 'bin/litellm';
const KEY = 'sk-bench-of-litellm';
/** Its imports alone take ten seconds on a small machine. */
const START_MS = 90_000;

function renderConfig(upstreamPort: number): string {
  const models = Object.keys(UPSTREAM_MODELS).map(
    (model) => `  - model_name: ${model}
    litellm_params: { model: openai/${model}, api_base: "http://127.0.0.1:${upstreamPort}/v1", api_key: none }
`,
  );
  return `model_list:
${models.join('')}litellm_settings: { telemetry: false }
general_settings: { master_key: ${KEY} }
`;
}

export const litellm: Subject = {
  name: 'litellm',
  title: `LiteLLM ${VERSION}`,
  protocol: 'chat',
  async start({ upstreamPort, scratchDir }) {
    if (Bun.which('python3') === null) throw new SubjectUnavailable('LiteLLM needs python3, which is not on PATH');
    const dir = await installOnce({
      name: `litellm-${VERSION}`,
      entry: ENTRY,
      commands: [
        ['python3', '-m', 'venv', '.'],
        ['bin/pip', 'install', '--quiet', '--disable-pip-version-check', `litellm[proxy]==${VERSION}`],
      ],
    });
    const port = findFreePort();
    const config = join(scratchDir, 'litellm.yaml');
    writeFileSync(config, renderConfig(upstreamPort));
    const { group } = await startServing(
      {
        command: [join(dir, ENTRY), '--config', config, '--host', '127.0.0.1', '--port', String(port)],
        cwd: scratchDir,
        // Its price list comes from its package, not from the network.
        env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' },
      },
      port,
      async () => {},
      START_MS,
    );
    return { group, port, headers: { authorization: `Bearer ${KEY}` } };
  },
};
