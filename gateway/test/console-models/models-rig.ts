/** Starts a gateway with a console administrator, for the suites on providers, models and prices. */
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { renderBody } from '../fault/calls.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';

export const ACCOUNT = '/accounts/default';

export interface ApiAnswer {
  readonly status: number;
  readonly json: unknown;
  readonly text: string;
}

export interface Administrator {
  readonly key: string;
  /** Calls the console API with the administrator's key. */
  ask(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
}

/** A gateway whose console may add the fake upstream, and its administrator. */
export interface ModelsRig {
  readonly fake: FakeUpstream;
  /** Changes at a restart. */
  gateway: RunningGateway;
  readonly admin: Administrator;
  /** Starts the gateway again on its data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `origins`: others that the console may enter. */
export async function startModels(origins: readonly string[] = []): Promise<ModelsRig> {
  const fake = await startFakeUpstream();
  scriptModels(fake);
  const server = { private_origins: [fake.url, ...origins], public_status: 'full' };
  const config = configBeside(fake, { server });
  const gateway = await startGateway({ config });
  const { key } = await createKey(gateway, { scopes: ['admin', 'inference'] });
  const rig: ModelsRig = {
    fake,
    gateway,
    admin: { key, ask: (method, path, body) => askApi(rig.gateway, key, method, path, body) },
    async restart() {
      const { key: first, dataDir } = rig.gateway;
      await rig.gateway.stop(true);
      rig.gateway = { ...(await startGateway({ config, dataDir })), key: first };
    },
    async stop() {
      await rig.gateway.stop();
      await fake.stop();
    },
  };
  return rig;
}

/** Calls the console API with a key; null: without authentication. */
export async function askApi(
  gateway: Pick<RunningGateway, 'url'>,
  key: string | null,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiAnswer> {
  const response = await fetch(`${gateway.url}/app/api${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: JSON.parse(text), text };
}

/** Returns a configuration whose console may add the fake upstream. */
export function configBeside(fake: Pick<FakeUpstream, 'url'>, more: object = {}): object {
  return {
    server: { private_origins: [fake.url], public_status: 'full' },
    providers: { filed: { kind: 'openai-compatible', base_url: `${fake.url}/v1`, api_key: 'filed-credential-9f2c' } },
    models: {
      'file-priced': { targets: [{ provider: 'filed' }], price: { input: 1, output: 2 } },
      'file-unpriced': { targets: [{ provider: 'filed' }], alias: ['another-name'] },
    },
    ...more,
  };
}

/** Scripts the fake upstream's answers for every model of the suites. */
function scriptModels(fake: Pick<FakeUpstream, 'script'>): void {
  for (const model of ['their-model', 'file-priced', 'file-unpriced', 'of-the-file', 'second-of-theirs'])
    fake.script(model, {});
}

/** Returns the form data of a provider at the fake upstream. */
export function entryAt(fake: Pick<FakeUpstream, 'url'>, changes: object = {}): object {
  return {
    name: 'entered',
    kind: 'openai-compatible',
    base_url: `${fake.url}/v1`,
    credentials: { api_key: CANARY },
    models: [{ name: 'entered-model', upstream: 'their-model' }],
    ...changes,
  };
}

/** A credential that must never be shown after it was entered. */
export const CANARY = 'canary-credential-7d41e90b55aa';

/** Makes one plain call and returns its status. */
export async function call(
  gateway: Pick<RunningGateway, 'url' | 'key'>,
  model: string,
  key = gateway.key,
): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: renderBody({ protocol: 'chat', model, stream: false }),
  });
  await response.text();
  return response.status;
}
