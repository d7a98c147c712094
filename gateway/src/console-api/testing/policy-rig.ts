/** Runs the policy routes over a real store for tests, with two accounts, its own clock and any actor. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPolicy } from '../../app/open-console.ts';
import { sealCredential } from '../../app/open-models.ts';
import { openMoney } from '../../app/open-money.ts';
import type { CallDeps } from '../../call/deps.ts';
import { loadConfig } from '../../config/load-config.ts';
import { listServedModels } from '../../config/served-models.ts';
import { FROM_COMMAND_LINE } from '../../control/command.ts';
import { createControl } from '../../control/control.ts';
import { UNKNOWN_ROUTING } from '../../control/testing/unknown-routing.ts';
import { followKeys, type KeyDirectory, loadKeyDirectory, putMaker } from '../../identity/key-directory.ts';
import type { Role } from '../../people/roles.ts';
import { createCredentialSeal } from '../../providers/credentials/credential-seal.ts';
import { buildRouteTable } from '../../routing/route.ts';
import { createChangeFeed, publishChanges } from '../../store/memory/change-feed.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { Store } from '../../store/ports/store.ts';
import { loadMasterKey } from '../../store/sqlite/database/master-key.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { LineWriter } from '../../telemetry/line-writer.ts';
import { createLog } from '../../telemetry/log.ts';
import type { Actor } from '../kernel/actor.ts';
import { createConsoleApi } from '../kernel/console-api.ts';
import { policyHandlers } from '../policy/policy-handlers.ts';
import { withRest } from './rest-of-routes.ts';

/** Replies are untyped; a test names the members that it checks. */
type Loose = ReturnType<typeof JSON.parse>;

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Loose;
}

export interface PolicyRig {
  readonly store: Store;
  readonly directory: KeyDirectory;
  readonly deps: Pick<CallDeps, 'directory' | 'settings' | 'billing'>;
  readonly faults: string[];
  nowMs: number;
  /** Sends a request as an actor. */
  ask(actor: Actor, route: string, body?: object): Promise<Answered>;
  /** Runs a command as the command line. */
  run(name: string, given: object): Promise<Record<string, Loose>>;
  close(): Promise<void>;
}

const CONFIG = `
providers:
  lab: { kind: openai-compatible, base_url: http://127.0.0.1:9/v1, api_key: none }
models:
  m: { targets: [ { provider: lab } ], alias: [m-alias], price: { input: 1, output: 2 } }
  other: { protocols: [chat], targets: [ { provider: lab } ], price: { input: 1, output: 2 } }
  unpriced: { targets: [ { provider: lab } ] }
`;

/** Accounts `default` and `team`; `team` has the workspaces `red` and `blue`. */
export async function openPolicyRig(dataDir: string): Promise<PolicyRig> {
  const changes = createChangeFeed();
  const store = publishChanges(await openStore({ dataDir }), changes);
  const directory = await loadKeyDirectory(store.policies, loadMasterKey(dataDir).key);
  changes.subscribe(followKeys(directory, store.policies));
  const file = join(dataDir, 'tollgate.yaml');
  writeFileSync(file, CONFIG);
  const { config, problems } = loadConfig({ cwd: dataDir, environment: {}, file });
  if (config === null) throw new Error(JSON.stringify(problems));
  const routes = buildRouteTable(
    listServedModels(config, () => [], new Map()),
    () => null,
  );
  const money = await openMoney({
    store,
    directory,
    changes,
    log: createLog(new LineWriter(2)),
    callMsMax: 3_600_000,
    namesOfModel: (model) => routes.get(model)?.names ?? [model],
  });
  const deps = { directory, settings: { config, routes }, billing: money.billing };
  const seal = createCredentialSeal(loadMasterKey(dataDir).key);
  const control = createControl({
    reconciliations: store.reconciliations,
    alerts: store.alerts,
    views: store.views,
    guardrails: store.guardrails,
    tryGuardrail: async (_, text) => ({ outcome: 'passed', text, findings: [], message: null }),
    statements: store.statements,
    policies: store.policies,
    ledger: store.ledger,
    directory,
    limits: money.billing.rules,
    credit: money.credit,
    links: { makeSetUp: async () => null, makeReset: async () => ({ kind: 'unknown' }), served: () => null },
    users: { verifyEmail: async () => ({ kind: 'unknown' }) },
    modelNames: () => ({ names: [...deps.settings.routes.keys()], place: 'on this server' }),
    routing: {
      ...UNKNOWN_ROUTING,
      seal: (credential, origin, secrets) => sealCredential(seal, credential, origin, secrets),
    },
    nowMs: () => rig.nowMs,
  });
  const faults: string[] = [];
  const policy = openPolicy({ store, control, deps, nowMs: () => rig.nowMs });
  /** Requests run at once, and each is identified more than once. */
  const asking = new WeakMap<Headers, Actor>();
  const api = createConsoleApi({
    handlers: withRest(policyHandlers(policy)),
    identify: async ({ headers }) => asking.get(headers) ?? { kind: 'anonymous' },
    hasAccount: (account) => directory.accounts.has(account),
    publicUrl: () => null,
    onFault: (route, cause) => faults.push(`${route} ${cause instanceof Error ? cause.stack : String(cause)}`),
  });
  const rig: PolicyRig = {
    store,
    directory,
    deps,
    faults,
    nowMs: Date.UTC(2026, 10, 20, 12),
    async ask(actor, route, body) {
      const [method = '', path = ''] = route.split(' ');
      // The allowed uses of a person's keys are tested with people.
      if (actor.kind === 'person') putMaker(directory, actor.id, () => ['inference', 'usage', 'admin']);
      const headers = { host: 'gw.test', 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
      const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const request = new Request(`http://gw.test/app/api${path}`, sent);
      asking.set(request.headers, actor);
      const response = await api.fetch(request, '192.0.2.9');
      const text = await response.text();
      const { status, headers: answered } = response;
      return { status, headers: answered, text, json: text.startsWith('{') ? JSON.parse(text) : null };
    },
    async run(name, given) {
      const reply = await control.run(name, given, FROM_COMMAND_LINE);
      if (!reply.ok) throw new Error(reply.message);
      return reply.result as Record<string, Loose>;
    },
    async close() {
      money.close();
      await store.close();
    },
  };
  await rig.run('accounts.create', { id: 'team', time_zone: 'Europe/Berlin' });
  for (const id of ['red', 'blue']) await rig.run('workspaces.create', { id, account: 'team' });
  return rig;
}

/** A person with a role in an account. */
export function person(id: string, account: string, role: Role, workspaces: readonly string[] | null = null): Actor {
  const names = { name: `Name of ${id}`, email: `${id}@example.com` };
  return { kind: 'person', id, ...names, sessionId: 's', grants: [{ account, role, workspaces }] };
}

export const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

/** The body that creates a key. */
export function newKey(changes: object = {}): object {
  return {
    name: 'a key',
    workspace: 'red',
    models: null,
    ips: null,
    scopes: ['inference'],
    strict: false,
    caps: NO_CAPS,
    expires_at: null,
    ...changes,
  };
}

/** Settles a call of a key, as the call pipeline would. */
export async function keepCall(rig: PolicyRig, keyId: string, changes: Partial<CallRecord> = {}): Promise<CallRecord> {
  const key = rig.directory.keys.get(keyId);
  if (key === undefined) throw new Error(`there is no key ${keyId}`);
  const named = { account: key.accountId, workspace: key.workspaceId, key_id: key.id, key_name: key.name };
  const atMs = changes.at_ms ?? rig.nowMs;
  const requestId = `req_${Bun.randomUUIDv7('hex', atMs).replaceAll('-', '')}`;
  const record = sampleRecord(requestId, { at_ms: atMs, ...named, ...changes });
  const cost = BigInt(record.cost_nano_usd ?? '0');
  await rig.store.ledger.hold({ draft: record, amount: cost });
  await rig.store.ledger.settle({ record, posted: cost, released: 0n, writtenOff: 0n });
  return record;
}
