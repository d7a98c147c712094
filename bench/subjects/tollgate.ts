/** Starts Tollgate as a customer runs it: a key with a budget, prices and records, a fresh data folder. */
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';
import { startGroup } from '../process/start-group.ts';
import { CALL_PATH, type Protocol, renderQuestion } from '../protocol.ts';
import { UPSTREAM_MODELS } from '../upstream/choose-answer.ts';
import { startServing } from './start-serving.ts';
import {
  type RunningSubject,
  START_TIMEOUT_MS,
  type Subject,
  type SubjectName,
  type SubjectSetting,
  SubjectUnavailable,
} from './subject.ts';

/** `tg_`, 43 characters of secret, 6 of checksum. The first start prints one without a limit, which is not used. */
const KEY = /tg_[0-9A-Za-z]{49}/;

/** The budget is never exhausted, but each request must be checked against it. */
const CREATE_KEY = ['keys', 'create', '--name', 'bench', '--budget-usd', '1000000', '--budget-window', 'month'];

/** The provider kind of each format in the configuration. */
const PROVIDER_KIND: Readonly<Record<Protocol, string>> = {
  chat: 'openai-compatible',
  messages: 'anthropic',
  responses: 'openai',
};

/** Headers that clients of each format send in addition to their key. */
const CLIENT_HEADERS: Readonly<Record<Protocol, Readonly<Record<string, string>>>> = {
  chat: {},
  messages: { 'anthropic-version': '2023-06-01' },
  responses: {},
};

/** What differs from the usual configuration. */
interface Variant {
  readonly requestLog?: 'off';
  readonly targets?: 2;
}

function renderConfig(upstream: Protocol, upstreamPort: number, { requestLog, targets }: Variant): string {
  const second = targets === 2 ? ', { provider: lab, model: second }' : '';
  const models = Object.keys(UPSTREAM_MODELS).map(
    (model) =>
      `  ${model}: { targets: [ { provider: lab }${second} ], price: { input: 0.25, cache_read: 0.025, output: 2.00 } }\n`,
  );
  // There is no load balancer here, so serving new calls after the stop signal is unnecessary.
  // Launchers from before the request log, which `--compare` takes, do not know the member.
  const telemetry = requestLog === 'off' ? 'telemetry: { request_log: off }\n' : '';
  return `${telemetry}limits: { drain: 0s }
providers:
  lab: { kind: ${PROVIDER_KIND[upstream]}, base_url: http://127.0.0.1:${upstreamPort}/v1, api_key: none }
models:
${models.join('')}`;
}

/**
 * Asks for one token and gets one. From then on the gateway knows that the upstream keeps limits, as it knows of the
 * vendors' own addresses, and asks for plain answers where a budget pays (docs/decisions/0025).
 */
async function proveLimits(client: Protocol, port: number, headers: Readonly<Record<string, string>>): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}${CALL_PATH[client]}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: renderQuestion(client, 'bench', false, 1),
  });
  const text = await answer.text();
  if (!/"(?:length|max_tokens|max_output_tokens)"/.test(text))
    throw new Error(`a request for one token got ${answer.status}: ${text}`);
}

async function startTollgate(
  client: Protocol,
  upstream: Protocol,
  { upstreamPort, scratchDir, tollgateCommand }: SubjectSetting,
  variant: Variant,
): Promise<RunningSubject> {
  try {
    accessSync(tollgateCommand, constants.X_OK);
  } catch {
    throw new SubjectUnavailable(
      `${tollgateCommand} is missing or cannot be executed; set another one with --tollgate`,
    );
  }
  const port = findFreePort();
  const config = join(scratchDir, 'tollgate.yaml');
  writeFileSync(config, renderConfig(upstream, upstreamPort, variant));
  const place = { cwd: scratchDir, env: { TOLLGATE_DATA_DIR: join(scratchDir, 'records') } };
  const { group, ready } = await startServing(
    { command: [tollgateCommand, 'serve', '--config', config, '--port', String(port)], ...place },
    port,
    async (started) => {
      await started.waitForOutput(KEY, START_TIMEOUT_MS);
      const [key] = await startGroup({ command: [tollgateCommand, ...CREATE_KEY], ...place }).waitForOutput(
        KEY,
        START_TIMEOUT_MS,
      );
      const headers = { authorization: `Bearer ${key}`, ...CLIENT_HEADERS[client] };
      await proveLimits(client, port, headers);
      return headers;
    },
  );
  return { group, port, headers: ready };
}

function describeTollgate(
  name: SubjectName,
  title: string,
  client: Protocol,
  upstream: Protocol,
  variant: Variant = {},
): Subject {
  return {
    name,
    title,
    protocol: client,
    start: (setting) => startTollgate(client, upstream, setting, variant),
  };
}

export const tollgate: Subject = describeTollgate('tollgate', 'Tollgate', 'chat', 'chat');
export const tollgateSilent = describeTollgate('tollgate-silent', 'Tollgate, no request log', 'chat', 'chat', {
  requestLog: 'off',
});
export const tollgateTwo = describeTollgate('tollgate-two', 'Tollgate, two targets', 'chat', 'chat', { targets: 2 });
export const tollgateR2r = describeTollgate('tollgate-r2r', 'Tollgate, Responses', 'responses', 'responses');
export const tollgateC2m: Subject = describeTollgate('tollgate-c2m', 'Tollgate, chat → messages', 'chat', 'messages');
export const tollgateM2m: Subject = describeTollgate('tollgate-m2m', 'Tollgate, messages', 'messages', 'messages');
export const tollgateM2c: Subject = describeTollgate('tollgate-m2c', 'Tollgate, messages → chat', 'messages', 'chat');
