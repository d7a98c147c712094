/** Owns the routes that list, make and change API keys. What each does is a command's; who may is decided here. */
import { inLayer } from '../store/limits-port.ts';
import type { StoredKey } from '../store/ports.ts';
import type { Tenancy } from './actor.ts';
import { capsArguments } from './caps-of-body.ts';
import { checkMayEnable, checkTightens } from './check-undoing.ts';
import { ConsoleFailure } from './console-failure.ts';
import { checkScopes, findOwnKey, findWorkspace, personBehind, seesWorkspace } from './find-subject.ts';
import type { Handlers } from './handlers.ts';
import { showKey, showKeys } from './key-view.ts';
import { layerFor } from './limit-layers.ts';
import type { PolicyParts } from './policy-parts.ts';
import { runCommand } from './run-command.ts';

const HOUR_MS = 3_600_000;
const GRACES_MS = { now: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS } as const;

export function keyHandlers(
  parts: PolicyParts,
): Handlers<
  | 'GET /accounts/{account}/keys'
  | 'POST /accounts/{account}/keys'
  | 'PATCH /accounts/{account}/keys/{key}'
  | 'POST /accounts/{account}/keys/{key}/rotate'
  | 'POST /accounts/{account}/keys/{key}/disable'
  | 'POST /accounts/{account}/keys/{key}/enable'
  | 'POST /accounts/{account}/keys/{key}/revoke'
> {
  const { directory } = parts.gate;
  const show = (id: string, tenancy: Tenancy) => {
    const key = directory.keys.get(id);
    if (key === undefined) throw new Error(`the key ${id} is gone after it was changed`);
    return showKey(parts, key, tenancy, parts.nowMs());
  };
  return {
    'GET /accounts/{account}/keys': async ({ tenancy }) => {
      const isMine = (account: string, workspace: string) =>
        account === tenancy.account && seesWorkspace(tenancy, workspace);
      const keys = [...directory.keys.values()].filter(({ accountId, workspaceId }) => isMine(accountId, workspaceId));
      const workspaces = [...directory.workspaces.values()].filter(({ accountId, id }) => isMine(accountId, id));
      return {
        keys: await showKeys(parts, keys.sort(byAge), tenancy, parts.nowMs()),
        workspaces: workspaces.map(({ id }) => id),
      };
    },
    'POST /accounts/{account}/keys': async (call) => {
      const { caps, ...given } = call.body;
      findWorkspace(parts, call.tenancy, given.workspace);
      checkScopes(call, given.scopes);
      const made = await runCommand(parts.control, call, 'keys.create', {
        ...given,
        ...capsArguments(caps),
        created_by: personBehind(parts, call.actor),
      });
      return { key: await show(String(made.id), call.tenancy), secret: String(made.key) };
    },
    'PATCH /accounts/{account}/keys/{key}': async (call) => {
      const { caps, ...given } = call.body;
      const key = findLivingKey(parts, call);
      if (given.workspace !== undefined) findWorkspace(parts, call.tenancy, given.workspace);
      checkScopes(call, given.scopes ?? key.scopes);
      const limits = caps === undefined ? {} : capsArguments(caps);
      if (caps !== undefined) {
        checkTightens(
          call.tenancy,
          parts.gate.desk.rules.get(inLayer({ kind: 'key', id: key.id }, layerFor(call.tenancy))),
          caps,
        );
      }
      await runCommand(parts.control, call, 'keys.set', { id: key.id, ...given, ...limits });
      return show(key.id, call.tenancy);
    },
    'POST /accounts/{account}/keys/{key}/rotate': async (call) => {
      const { id, scopes } = findLivingKey(parts, call);
      // Whoever rotates a key holds it afterwards.
      checkScopes(call, scopes);
      const rotated = await runCommand(parts.control, call, 'keys.rotate', {
        id,
        grace_ms: GRACES_MS[call.body.grace],
      });
      return { key: await show(id, call.tenancy), secret: String(rotated.key) };
    },
    'POST /accounts/{account}/keys/{key}/disable': async (call) => {
      const { id } = findLivingKey(parts, call);
      await runCommand(parts.control, call, 'keys.disable', { id });
      return show(id, call.tenancy);
    },
    'POST /accounts/{account}/keys/{key}/enable': async (call) => {
      const key = findLivingKey(parts, call);
      checkScopes(call, key.scopes);
      checkMayEnable(call, key);
      await runCommand(parts.control, call, 'keys.enable', { id: key.id });
      return show(key.id, call.tenancy);
    },
    'POST /accounts/{account}/keys/{key}/revoke': async (call) => {
      const { id } = findOwnKey(parts, call, call.path.key);
      await runCommand(parts.control, call, 'keys.revoke', { id });
      return show(id, call.tenancy);
    },
  };
}

function findLivingKey(
  parts: PolicyParts,
  call: Parameters<typeof findOwnKey>[1] & { readonly path: { readonly key: string } },
): StoredKey {
  const key = findOwnKey(parts, call, call.path.key);
  if (key.status !== 'revoked') return key;
  throw new ConsoleFailure('conflict', 'this key is revoked, which is for good; create another one', {
    page: '/app/keys',
  });
}

/** The newest first. */
function byAge(one: StoredKey, other: StoredKey): number {
  return other.createdAtMs - one.createdAtMs || (one.id < other.id ? -1 : 1);
}
