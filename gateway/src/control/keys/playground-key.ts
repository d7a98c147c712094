/** Defines the command that creates a member's playground key, or replaces its secret. */
import { z } from 'zod';
import { generateKeyText } from '../../identity/key-format.ts';
import type { StoredKey } from '../../store/ports/records.ts';
import { givenId } from '../arguments.ts';
import { CommandFailure, type CommandRun, defineCommand, findWorkspace } from '../command.ts';
import { auditChange, chooseRuleChange, layeredCapsOf, NO_LAYERED_CAPS } from '../policy-changes.ts';
import { viewKey, viewNewKey } from '../views.ts';

const PLAYGROUND_KEY_MS = 12 * 3_600_000;
/** Another tab of the member may still use the secret before. */
const PLAYGROUND_GRACE_MS = 3_600_000;
/** Of a new key: 5 USD a day. Members may change it like that of any key. */
const PLAYGROUND_CAPS = { budget_usd: 5_000_000_000n, budget_window: 'day' } as const;

/** A member's key for the playground: one per workspace, with a new secret each time. */
export const playground = defineCommand(
  z.strictObject({ workspace: givenId, person: givenId }),
  async (context, given) => {
    const workspace = findWorkspace(context, given.workspace);
    const { id, before } = findPlaygroundKey(context, workspace.id, given.person);
    if (before?.status === 'disabled') {
      throw new CommandFailure(
        `Your playground key ${id} is disabled. Ask an admin of the account to enable it, or use another API key.`,
        'forbidden',
      );
    }
    const nowMs = context.nowMs();
    const keyText = generateKeyText();
    const secret = { hash: context.directory.hashKey(keyText), last4: keyText.slice(-4) };
    const previous = {
      previousHash: before?.hash ?? null,
      previousExpiresAtMs: before === null ? null : nowMs + PLAYGROUND_GRACE_MS,
      previousLast4: before?.last4 ?? null,
    };
    const key: StoredKey = {
      ...(before ?? newPlaygroundKey(id, workspace.accountId, workspace.id, given.person, nowMs)),
      ...secret,
      ...previous,
      expiresAtMs: nowMs + PLAYGROUND_KEY_MS,
    };
    const subject = { kind: 'key', id } as const;
    const { changes, caps } =
      before === null
        ? chooseRuleChange(context, subject, key.accountId, PLAYGROUND_CAPS)
        : { changes: [], caps: layeredCapsOf(context, subject) };
    const entries = auditChange(context, {
      account: key.accountId,
      workspace: key.workspaceId,
      subject,
      before: before === null ? null : viewKey(before, NO_LAYERED_CAPS),
      after: before === null ? viewKey(key, caps) : viewKey(key, NO_LAYERED_CAPS),
    });
    await context.policies.save([{ of: 'key', isNew: before === null, key }, ...changes], entries);
    return viewNewKey(key, caps, keyText);
  },
);

function newPlaygroundKey(id: string, accountId: string, workspaceId: string, person: string, nowMs: number) {
  return {
    id,
    name: 'Playground',
    accountId,
    workspaceId,
    models: null,
    ips: null,
    scopes: ['inference'],
    strict: false,
    holds: null,
    status: 'active',
    createdAtMs: nowMs,
    createdBy: person,
    disabledBy: null,
  } as const;
}

/**
 * The id follows from the member and the workspace, so that it cannot be mistaken for a key that the member created by
 * hand. A revoked key, or one that was moved, is followed by the next id.
 */
function findPlaygroundKey({ directory }: CommandRun, workspace: string, person: string) {
  for (let nth = 1; ; nth++) {
    const digest = new Bun.CryptoHasher('sha256').update(JSON.stringify([person, workspace, nth])).digest('hex');
    const id = `key_pg${digest.slice(0, 18)}`;
    const key = directory.keys.get(id);
    if (key === undefined) return { id, before: null };
    if (key.status !== 'revoked' && key.workspaceId === workspace && key.createdBy === person) {
      return { id, before: key };
    }
  }
}
