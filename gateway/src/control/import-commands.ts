/**
 * Defines the command that imports accounts, workspaces, keys and end users of another gateway, with their limits and what
 * they had spent. Repeatable: an object that was imported before keeps what it has here, and only its spend follows.
 */
import { z } from 'zod';
import { windowAt } from '../admission/window.ts';
import { generateId, hashImportedKey } from '../identity/key-format.ts';
import type { NewAuditEntry } from '../store/ports/audit.ts';
import type { ImportedObject, ImportKind } from '../store/ports/books/imports.ts';
import { BUDGET_WINDOWS, type Caps, endUserSubject, type Subject } from '../store/ports/limits.ts';
import type { PolicyChange, StoredAccount } from '../store/ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import {
  accountName,
  capArguments,
  changeCaps,
  endUserName,
  keyName,
  newId,
  timeZone,
  usdAmount,
} from './arguments.ts';
import { CommandFailure, type CommandRun, type ControlCommand, defineCommand, type Json } from './command.ts';
import { auditChange, layeredCapsOf, NO_LAYERED_CAPS, type ShownMembers, storeChanges } from './policy-changes.ts';
import { viewAccount, viewKey, viewRule, viewWorkspace } from './views.ts';

const ITEMS_MAX = 1_000;
const MODELS_MAX = 1_000;
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 hex digits');
const time = z.iso.datetime().transform((text) => Date.parse(text));
const models = z.array(z.string().min(1).max(256)).max(MODELS_MAX).nullable();
const last4 = z.string().regex(/^[\x20-\x7e]{0,4}$/, 'expected at most four characters');
const { layer: _, ...caps } = capArguments;

/** An object of the same import by its id there and the id proposed for it; null: an object of this gateway. */
const reference = z.strictObject({ foreign_id: z.string().min(1).max(512).nullable(), id: newId });

const common = {
  foreign_id: z.string().min(1).max(512),
  /** Of everything but the spend: tells whether the object has changed there since. */
  digest: sha256,
  ...caps,
  /** What it had spent in the current window, or in all; null: not known any more, because the window has ended. */
  spent_usd: usdAmount.nullable(),
  spent_window: z.enum(BUDGET_WINDOWS),
};

const importArguments = z.strictObject({
  source: z.enum(['litellm']),
  dry_run: z.boolean(),
  accounts: z
    .array(z.strictObject({ ...common, id: newId, name: accountName, time_zone: timeZone, created_at: time }))
    .max(ITEMS_MAX)
    .default([]),
  workspaces: z
    .array(z.strictObject({ ...common, id: newId, account: reference, models, created_at: time }))
    .max(ITEMS_MAX)
    .default([]),
  keys: z
    .array(
      z.strictObject({
        ...common,
        foreign_id: sha256,
        name: keyName,
        last4,
        workspace: reference,
        models,
        status: z.enum(['active', 'disabled']),
        created_at: time,
        expires_at: time.nullable(),
        previous: z.strictObject({ sha256, until: time }).nullable(),
      }),
    )
    .max(ITEMS_MAX)
    .default([]),
  end_users: z
    .array(z.strictObject({ ...common, id: endUserName, account: reference }))
    .max(ITEMS_MAX)
    .default([]),
});

type Given = z.output<typeof importArguments>;
type Common = Pick<Given['end_users'][number], keyof typeof common>;

/** `differs`: imported before, and changed there since; it stays as it is here. */
type Outcome = 'created' | 'unchanged' | 'spend_updated' | 'differs';

/** One run: what is in the store, and what the run adds to it. */
class Import {
  readonly changes: PolicyChange[] = [];
  readonly entries: NewAuditEntry[] = [];
  readonly results: Json[] = [];
  readonly #taken = new Set<string>();
  /** Of this run, for later items that refer to them. */
  readonly accounts = new Map<string, StoredAccount>();
  readonly workspaces = new Map<string, StoredWorkspace>();

  constructor(
    readonly run: CommandRun,
    readonly given: Given,
    readonly before: ReadonlyMap<string, ImportedObject>,
  ) {}

  find(kind: ImportKind, foreignId: string): ImportedObject | undefined {
    return this.before.get(`${kind} ${foreignId}`);
  }

  /** The proposed id, or a free one after it. */
  chooseId(proposed: string, isTaken: (id: string) => boolean): string {
    for (let n = 1; ; n++) {
      const suffix = n === 1 ? '' : n === 2 ? `-${this.given.source}` : `-${this.given.source}-${n - 1}`;
      const id = proposed.slice(0, 64 - suffix.length) + suffix;
      if (isTaken(id) || this.#taken.has(id)) continue;
      this.#taken.add(id);
      return id;
    }
  }

  /** The object that a reference names, as this run or an earlier one imported it. */
  resolve(kind: 'account' | 'workspace', { foreign_id, id }: z.output<typeof reference>): string {
    const book = kind === 'account' ? this.accounts : this.workspaces;
    const found = foreign_id === null ? id : (book.get(foreign_id)?.id ?? this.find(kind, foreign_id)?.subjectId);
    if (found !== undefined) return found;
    if (this.given.dry_run) return id;
    throw new CommandFailure(`The ${kind} ${JSON.stringify(foreign_id)} was not imported. Import it first.`);
  }

  /** Adds an object with its limits and its spend, or follows the spend of one that was imported before. */
  add(
    kind: ImportKind,
    item: Common & { readonly name: string },
    create: () => { readonly subject: Subject; readonly createdAtMs: number; readonly change: PolicyChange | null } & {
      readonly account: string;
      readonly workspace: string | null;
      view(caps: Caps | null): ShownMembers;
    },
    foreignId = item.foreign_id,
  ): void {
    const earlier = this.find(kind, foreignId);
    if (earlier !== undefined) {
      this.#follow(kind, item, earlier);
      return;
    }
    const made = create();
    const { subject } = made;
    const nowMs = this.run.nowMs();
    const ruled = this.run.limits.get(subject);
    const caps = ruled ?? changeCaps(null, item);
    if (made.change !== null) this.changes.push(made.change);
    if (ruled === null && caps !== null) this.changes.push({ of: 'rule', subject, caps });
    const imported: ImportedObject = {
      source: this.given.source,
      kind,
      foreignId,
      subjectKind: subject.kind,
      subjectId: subject.id,
      digest: item.digest,
      spent: item.spent_usd ?? 0n,
      spentAtMs: item.spent_window === 'total' ? made.createdAtMs : nowMs,
      importedAtMs: nowMs,
    };
    this.changes.push({ of: 'import', imported });
    const spend = { imported_from: this.given.source, imported_spend_nano_usd: imported.spent.toString() };
    const { account, workspace } = made;
    const shown = { ...made.view(caps), ...spend };
    this.entries.push(...auditChange(this.run, { account, workspace, subject, before: null, after: shown }));
    this.#report(kind, item, subject.id, 'created', ruled === null ? null : 'its limits here were kept');
  }

  #follow(kind: ImportKind, item: Common & { readonly name: string }, earlier: ImportedObject): void {
    const nowMs = this.run.nowMs();
    const spent = item.spent_usd ?? earlier.spent;
    const account = this.#accountOf(earlier);
    const zone = this.run.directory.accounts.get(account)?.timeZone ?? 'UTC';
    const { startMs } = windowAt(item.spent_window, zone, nowMs);
    const isNewWindow = item.spent_usd !== null && earlier.spentAtMs < startMs && spent !== 0n;
    const differs = earlier.digest !== item.digest;
    if (spent === earlier.spent && !isNewWindow) {
      const why = differs ? 'changed there since the import; change it here too, or leave it' : null;
      this.#report(kind, item, earlier.subjectId, differs ? 'differs' : 'unchanged', why);
      return;
    }
    const spentAtMs = item.spent_window === 'total' ? earlier.spentAtMs : nowMs;
    this.changes.push({ of: 'import', imported: { ...earlier, spent, spentAtMs } });
    const shown = (amount: bigint) => ({ imported_spend_nano_usd: amount.toString() });
    const subject: Subject = { kind: earlier.subjectKind, id: earlier.subjectId };
    const change = { before: shown(earlier.spent), after: shown(spent) };
    this.entries.push(...auditChange(this.run, { account, workspace: null, subject, ...change }));
    const why = differs ? 'its limits changed there since the import; they stay as they are here' : null;
    this.#report(kind, item, earlier.subjectId, 'spend_updated', why);
  }

  #accountOf({ subjectKind, subjectId }: ImportedObject): string {
    const { directory } = this.run;
    if (subjectKind === 'key') return directory.keys.get(subjectId)?.accountId ?? 'default';
    if (subjectKind === 'workspace') return directory.workspaces.get(subjectId)?.accountId ?? 'default';
    return subjectKind === 'end_user' ? subjectId.slice(0, subjectId.indexOf('/')) : subjectId;
  }

  #report(kind: ImportKind, item: { readonly name: string }, id: string, outcome: Outcome, note: string | null): void {
    this.results.push({ kind, name: item.name, id, outcome, note });
  }
}

function importAccounts(work: Import): void {
  const { run, given } = work;
  for (const item of given.accounts) {
    work.add('account', item, () => {
      const present = item.id === 'default' ? run.directory.accounts.get('default') : undefined;
      const id = present?.id ?? work.chooseId(item.id, (id) => run.directory.accounts.has(id));
      const account: StoredAccount = present ?? {
        id,
        name: item.name,
        mode: 'postpaid',
        markUpPpm: 0,
        timeZone: item.time_zone,
        holds: null,
        createdAtMs: Math.min(item.created_at, run.nowMs()),
      };
      work.accounts.set(item.foreign_id, account);
      return {
        subject: { kind: 'account', id },
        createdAtMs: account.createdAtMs,
        change: present === undefined ? { of: 'account', isNew: true, account } : null,
        account: id,
        workspace: null,
        view: (caps) => {
          const { name, mode, time_zone, ...rest } = viewAccount(account, null, { ...NO_LAYERED_CAPS, operator: caps });
          const limits = Object.entries(rest).filter(([member]) => /^(rpm|tpm|concurrency|budget_)/.test(member));
          return {
            name: name ?? null,
            mode: mode ?? null,
            time_zone: time_zone ?? null,
            ...Object.fromEntries(limits),
          };
        },
      };
    });
  }
}

function importWorkspaces(work: Import): void {
  const { run, given } = work;
  for (const item of given.workspaces) {
    work.add('workspace', { ...item, name: item.id }, () => {
      const accountId = work.resolve('account', item.account);
      const id = work.chooseId(item.id, (id) => run.directory.workspaces.has(id));
      const createdAtMs = Math.min(item.created_at, run.nowMs());
      const workspace = { id, accountId, models: item.models, bodies: null, bodiesDays: null, createdAtMs };
      work.workspaces.set(item.foreign_id, workspace);
      return {
        subject: { kind: 'workspace', id },
        createdAtMs,
        change: { of: 'workspace', isNew: true, workspace },
        account: accountId,
        workspace: id,
        view: (caps) => viewWorkspace(workspace, { ...NO_LAYERED_CAPS, operator: caps }),
      };
    });
  }
}

function importKeys(work: Import): void {
  const { run, given } = work;
  const { directory } = run;
  for (const item of given.keys) {
    const hash = hashImportedKey(directory.hashKey, item.foreign_id);
    work.add(
      'key',
      item,
      () => {
        const workspaceId = work.resolve('workspace', item.workspace);
        const workspace =
          directory.workspaces.get(workspaceId) ?? [...work.workspaces.values()].find(({ id }) => id === workspaceId);
        if (workspace === undefined && !given.dry_run) {
          throw new CommandFailure(`There is no workspace with the id ${JSON.stringify(workspaceId)}.`);
        }
        const { previous } = item;
        const key: StoredKey = {
          id: generateId('key'),
          name: item.name,
          accountId: workspace?.accountId ?? 'default',
          workspaceId,
          hash,
          last4: item.last4,
          previousHash: previous === null ? null : hashImportedKey(directory.hashKey, previous.sha256),
          previousExpiresAtMs: previous === null ? null : previous.until,
          previousLast4: null,
          models: item.models,
          ips: null,
          scopes: ['inference'],
          strict: false,
          holds: null,
          status: item.status,
          createdAtMs: Math.min(item.created_at, run.nowMs()),
          expiresAtMs: item.expires_at,
          createdBy: null,
          disabledBy: item.status === 'disabled' ? run.by.actor.id : null,
        };
        return {
          subject: { kind: 'key', id: key.id },
          createdAtMs: key.createdAtMs,
          change: { of: 'key', isNew: true, key },
          account: key.accountId,
          workspace: workspaceId,
          view: (caps) => viewKey(key, { ...NO_LAYERED_CAPS, operator: caps }),
        };
      },
      hash,
    );
  }
}

function importEndUsers(work: Import): void {
  for (const item of work.given.end_users) {
    work.add('end_user', { ...item, name: item.id }, () => {
      const account = work.resolve('account', item.account);
      const subject = endUserSubject(account, item.id);
      return {
        subject,
        createdAtMs: 0,
        change: null,
        account,
        workspace: null,
        view: (caps) => viewRule(subject, caps ?? layeredCapsOf(work.run, subject).operator),
      };
    });
  }
}

/** The ids of everything that a run names. */
function foreignIds({ directory }: CommandRun, { accounts, workspaces, keys, end_users }: Given): readonly string[] {
  return [
    ...[...accounts, ...workspaces, ...end_users].map(({ foreign_id }) => foreign_id),
    ...keys.map(({ foreign_id }) => hashImportedKey(directory.hashKey, foreign_id)),
    ...[...workspaces, ...end_users].flatMap(({ account }) => account.foreign_id ?? []),
    ...keys.flatMap(({ workspace }) => workspace.foreign_id ?? []),
  ];
}

const importObjects = defineCommand(importArguments, async (run, given) => {
  if (run.by.authority !== 'operator') {
    throw new CommandFailure(
      'Only the operator of this gateway can import from another gateway; ask them.',
      'forbidden',
    );
  }
  const before = await run.policies.readImported(given.source, foreignIds(run, given));
  const work = new Import(run, given, new Map(before.map((each) => [`${each.kind} ${each.foreignId}`, each])));
  importAccounts(work);
  importWorkspaces(work);
  importKeys(work);
  importEndUsers(work);
  if (!given.dry_run) await storeChanges(run, work.changes, work.entries);
  return work.results;
});

export const IMPORT_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['imports.apply', importObjects],
];
