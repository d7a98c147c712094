/**
 * Provides a fake environment for tests of commands: a disk in memory, the rules in force, and the recorded
 * notifications of money and accounts.
 */

import { createKeyDirectory, followKeys, type KeyDirectory } from '../../identity/key-directory.ts';
import { createKeyHasher } from '../../identity/key-format.ts';
import { authenticate } from '../../identity/principal.ts';
import { Secret } from '../../lib/secret.ts';
import { createChangeFeed, publishPolicies } from '../../store/memory/change-feed.ts';
import type { Caps, Subject } from '../../store/ports/limits.ts';
import type { StoredAccount } from '../../store/ports/policy.ts';
import { type CommandOrigin, type ControlReply, FROM_COMMAND_LINE, type RoutingContext } from '../command.ts';
import { type Control, createControl } from '../control.ts';
import { createMemoryDisk, type MemoryDisk } from './memory-disk.ts';
import { UNKNOWN_ROUTING } from './unknown-routing.ts';

export interface ControlRig {
  readonly disk: MemoryDisk;
  readonly directory: KeyDirectory;
  readonly control: Control;
  /** The rules that apply to calls, by `kind:id`. */
  readonly inForce: Map<string, Caps>;
  /** Every rule that was set or removed, by `kind:id`. */
  readonly putRules: string[];
  readonly credits: { readonly account: string; readonly amount: bigint }[];
  /** Every account that was created or changed. */
  readonly boundAccounts: StoredAccount[];
  /** The served models. */
  models: readonly string[];
  /** Who requests the commands. */
  by: CommandOrigin;
  /** The current time; commands read it. */
  nowMs: number;
  /** The result of a command that must succeed. */
  run(name: string, given?: object): Promise<Record<string, unknown>>;
  /** The reply of a command that must fail. */
  refusal(name: string, given: unknown): Promise<Extract<ControlReply, { ok: false }>>;
  /** The id of the key that a text authenticates, or why it authenticates none. */
  knock(keyText: unknown): string;
}

const HASH = createKeyHasher(new Secret('5a'.repeat(32)));

/** The environment after a first start. */
export function createControlRig(routing: RoutingContext = UNKNOWN_ROUTING): ControlRig {
  const disk = createMemoryDisk();
  const directory = createKeyDirectory(HASH, {
    accounts: [...disk.accounts.values()],
    workspaces: [...disk.workspaces.values()],
    keys: [],
  });
  const inForce = new Map<string, Caps>();
  const putRules: string[] = [];
  const credits: { account: string; amount: bigint }[] = [];
  const boundAccounts: StoredAccount[] = [];
  const placeOf = ({ kind, id, layer }: Subject) => `${layer === 'account' ? 'own ' : ''}${kind}:${id}`;
  const changes = createChangeFeed();
  changes.subscribe(followKeys(directory, disk.policies));
  changes.subscribe({
    follow(commit) {
      for (const change of commit) {
        if (change.of === 'account') boundAccounts.push(change.account);
        if (change.of !== 'rule') continue;
        const place = placeOf(change.subject);
        putRules.push(place);
        if (change.caps === null) inForce.delete(place);
        else inForce.set(place, change.caps);
      }
    },
    reload: () => Promise.reject(new Error('nothing was missed')),
  });
  const rig: ControlRig = {
    disk,
    directory,
    inForce,
    putRules,
    credits,
    boundAccounts,
    by: FROM_COMMAND_LINE,
    models: ['m', 'lab/qwen:32b'],
    nowMs: 1_790_000_000_000,
    control: createControl({
      reconciliations: { save: async () => undefined },
      alerts: {
        readRules: async () => [],
        createRule: async () => undefined,
        changeRule: async () => undefined,
        deleteRule: async () => undefined,
        enqueue: async () => undefined,
        readDeliveries: async () => [],
      },
      guardrails: {
        readRules: async () => [],
        createRule: async () => undefined,
        changeRule: async () => undefined,
        deleteRule: async () => undefined,
      },
      tryGuardrail: null,
      views: {
        readViews: async () => [],
        createView: async () => undefined,
        changeView: async () => undefined,
        deleteView: async () => undefined,
      },
      statements: { readStatement: () => Promise.reject(new Error('there are no statements here')) },
      policies: publishPolicies(disk.policies, changes),
      ledger: disk.ledger,
      directory,
      limits: { get: (subject) => inForce.get(placeOf(subject)) ?? null },
      async credit(account, amount, move) {
        const moved = await move();
        credits.push({ account, amount });
        return moved;
      },
      links: { makeSetUp: async () => null, makeReset: async () => ({ kind: 'unknown' }), served: () => null },
      users: { verifyEmail: async () => ({ kind: 'unknown' }) },
      modelNames: () => ({ names: rig.models, place: 'here' }),
      routing,
      nowMs: () => rig.nowMs,
    }),
    async run(name, given = {}) {
      const reply = await rig.control.run(name, given, rig.by);
      if (!reply.ok) throw new Error(reply.message);
      return reply.result as Record<string, unknown>;
    },
    async refusal(name, given) {
      const reply = await rig.control.run(name, given, rig.by);
      if (reply.ok) throw new Error('it was done');
      return reply;
    },
    knock(keyText) {
      const found = authenticate(directory, String(keyText), rig.nowMs);
      return typeof found === 'string' ? found : found.keyId;
    },
  };
  return rig;
}

/** The state that applies to calls, and the state on disk: they must always be the same. */
export function bothSides({ disk, directory, inForce }: ControlRig): readonly [bound: object, kept: object] {
  return [
    {
      keys: [...directory.keys.values()],
      workspaces: [...directory.workspaces.values()],
      accounts: [...directory.accounts.values()],
      rules: [...inForce].sort(([one], [other]) => (one < other ? -1 : 1)),
    },
    {
      keys: [...disk.keys.values()],
      workspaces: [...disk.workspaces.values()],
      accounts: [...disk.accounts.values()],
      rules: [...disk.rules]
        .map(([place, { caps }]) => [place, caps])
        .sort(([one = ''], [other = '']) => (one < other ? -1 : 1)),
    },
  ];
}
