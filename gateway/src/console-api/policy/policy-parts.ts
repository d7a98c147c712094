/**
 * Defines what the policy routes share: their dependencies, the look-up of keys, workspaces and accounts within the
 * rights of the caller, and running commands.
 */
import type { CallDeps } from '../../call/deps.ts';
import type { CommandOrigin } from '../../control/command.ts';
import { type Control, isUndone } from '../../control/control.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { PersonNames } from '../../people/members/members.ts';
import type { AuditTrail } from '../../store/ports/audit.ts';
import type { AlertStore } from '../../store/ports/books/alerts.ts';
import type { GuardrailStore } from '../../store/ports/books/guardrails.ts';
import type { ReconciliationReader } from '../../store/ports/books/reconciliation.ts';
import type { SavedViewStore } from '../../store/ports/calls/saved-views.ts';
import type { Ledger, StatementReader } from '../../store/ports/ledger.ts';
import type { BindingCaps } from '../../store/ports/limits.ts';
import type { PolicyReader, StoredAccount } from '../../store/ports/policy.ts';
import type { Scope, StoredKey, StoredWorkspace } from '../../store/ports/records.ts';
import { ConstraintViolation, InsufficientFunds, StoreError } from '../../store/ports/store-errors.ts';
import type { UsageReader } from '../../store/ports/usage.ts';
import { type Actor, isOperator, type Tenancy } from '../kernel/actor.ts';

export interface PolicyParts {
  readonly control: Control;
  readonly deps: Pick<CallDeps, 'directory' | 'settings' | 'billing'>;
  readonly policies: Pick<PolicyReader, 'readLimitRules'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
  readonly audit: Pick<AuditTrail, 'read' | 'readValues'>;
  /** As `BudgetSpends.readSpends`, with the names of the models served now. */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
  readonly usage: Pick<UsageReader, 'readUsage' | 'readLogs'>;
  readonly statements: StatementReader;
  readonly personNames: PersonNames;
  readonly reconciliations: ReconciliationReader;
  readonly alerts: Pick<
    AlertStore,
    'readRules' | 'readDeliveries' | 'readInbox' | 'readSeen' | 'countUnseen' | 'saveSeen'
  >;
  readonly guardrails: Pick<GuardrailStore, 'readRules'>;
  /** The addresses of an account's members, lower case. */
  readMemberAddresses(account: string): Promise<readonly string[]>;
  readonly views: Pick<SavedViewStore, 'readViews' | 'readPinned' | 'savePinned'>;
  /** Facts about the installation, for its operators. */
  readFacts(): readonly { readonly name: string; readonly text: string }[];
  /** The current time, unix ms. */
  nowMs(): number;
}

/** The caller and their address. */
interface Asking {
  readonly actor: Actor;
  readonly address: string | null;
}

type Result = { readonly [member: string]: unknown };

/** Command arguments that are nested in `caps` in a body. */
const CAPS = new Set(['rpm', 'tpm', 'concurrency', 'budget_usd', 'budget_window']);

/**
 * The created or changed resource, as the command renders it: `View`. `check` throws where what is stored when the
 * command has its turn does not allow the change. Throws ConsoleFailure where the command is refused.
 */
export async function runCommand<View extends object = Result>(
  control: Control,
  asking: Asking,
  name: string,
  given: object,
  check?: () => void,
): Promise<View> {
  const reply = await control.run(name, given, changedBy(asking), check).catch(nameStoreFault);
  // Every command except a list returns an object.
  if (reply.ok) return reply.result as View;
  if (reply.kind === 'failed') throw new ConsoleFailure('conflict', reply.message);
  if (reply.kind === 'forbidden') throw new ConsoleFailure('forbidden', reply.message);
  const faults = reply.message.split('\n').flatMap((message) => {
    const member = memberOf(message);
    return member === '' ? [] : { member, message };
  });
  const [first] = faults;
  if (first === undefined) throw new ConsoleFailure('invalid', reply.message);
  if (faults.length === 1) throw new ConsoleFailure('invalid', reply.message, { member: first.member });
  throw new ConsoleFailure('invalid', first.message, { member: first.member, faults });
}

/** The member that a message of a command begins with: `targets.0.weight`; of an item of a plain list: the list. */
function memberOf(message: string): string {
  const [, path = ''] = /^([a-z_]+(?:\.\w+)*): /.exec(message) ?? [];
  const argument = path.replace(/^(\w+)(?:\.\d+)+$/, '$1');
  return CAPS.has(argument) ? `caps.${argument}` : argument;
}

/**
 * The caller for the audit trail, and their authority: only an operator of the installation changes the operator's
 * limits.
 */
function changedBy({ actor, address }: Asking): CommandOrigin {
  if (actor.kind === 'anonymous') throw new Error('a command needs an actor');
  const authority = isOperator(actor) ? 'operator' : 'account';
  return { actor: { kind: actor.kind, id: actor.id, name: actor.name }, address, authority };
}

function nameStoreFault(fault: unknown): never {
  if (!(fault instanceof StoreError)) throw fault;
  if (fault instanceof ConstraintViolation || fault instanceof InsufficientFunds)
    throw new ConsoleFailure('conflict', fault.message, { cause: fault });
  const known = isUndone(fault)
    ? 'the store is not writable; nothing was changed. Try again soon'
    : 'the store is not writable, and it is unknown whether the change was saved: check before you retry';
  throw new ConsoleFailure('store_unavailable', known, { retryAfterSeconds: 2, cause: fault });
}

type Directory = Pick<PolicyParts, 'deps'>;

interface Caller {
  readonly actor: Actor;
  readonly tenancy: Tenancy;
}

export function seesWorkspace({ workspaces }: Tenancy, id: string): boolean {
  return workspaces === null || workspaces.includes(id);
}

/** Throws `not_found`. */
export function findKey({ deps }: Directory, tenancy: Tenancy, id: string): StoredKey {
  const key = deps.directory.keys.get(id);
  if (key !== undefined && key.accountId === tenancy.account && seesWorkspace(tenancy, key.workspaceId)) return key;
  throw new ConsoleFailure('not_found', 'there is no such key; see the list of keys', { page: '/app/keys' });
}

/** Throws `not_found`. */
export function findWorkspace({ deps }: Directory, tenancy: Tenancy, id: string): StoredWorkspace {
  const workspace = deps.directory.workspaces.get(id);
  if (workspace !== undefined && workspace.accountId === tenancy.account && seesWorkspace(tenancy, id))
    return workspace;
  throw new ConsoleFailure('not_found', 'there is no such workspace; see the list of workspaces', {
    member: 'workspace',
    page: '/app/workspaces',
  });
}

/** Throws `not_found`. */
export function findAccount({ deps }: Directory, { account: id }: Tenancy): StoredAccount {
  const account = deps.directory.accounts.get(id);
  if (account !== undefined) return account;
  throw new ConsoleFailure('not_found', 'there is no such account; see the list of accounts', { page: '/app/billing' });
}

/** A key that the caller may change: their own, or any with `keys.manage`. Throws `not_found` or `forbidden`. */
export function findOwnKey(parts: Directory, { actor, tenancy }: Caller, id: string): StoredKey {
  const key = findKey(parts, tenancy, id);
  const me = personBehind(parts, actor);
  if (tenancy.may('keys.manage') || (me !== null && key.createdBy === me)) return key;
  throw new ConsoleFailure(
    'forbidden',
    'this key belongs to another member; you can change only keys that you created. Ask its owner, or an admin of the account',
    { page: '/app/keys' },
  );
}

/**
 * The person whose rights limit a new key; null: no person. A key created with another key belongs to that key's
 * creator.
 */
export function personBehind({ deps }: Directory, actor: Actor): string | null {
  if (actor.kind === 'person') return actor.id;
  return actor.kind === 'key' ? (deps.directory.keys.get(actor.id)?.createdBy ?? null) : null;
}

/** Throws `forbidden` where a key with these scopes could do more than the caller. */
export function checkScopes({ tenancy }: Caller, scopes: readonly Scope[]): void {
  if (!scopes.includes('admin')) return;
  // A key with the scope `admin` is an admin of the whole account.
  if (tenancy.may('keys.manage') && tenancy.may('settings.write')) return;

  throw new ConsoleFailure(
    'forbidden',
    `scopes: found admin, which only an owner or admin of the whole account can grant; leave it out`,
    { member: 'scopes', page: '/app/members' },
  );
}
