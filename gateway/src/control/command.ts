/** Owns what an administrative command is, what it works on, and how it answers. Knows no single command and no socket. */
import type { z } from 'zod';
import type { KeyDirectory, MakerRights } from '../identity/key-directory.ts';
import { maskKeys } from '../lib/mask-keys.ts';
import { BY_COMMAND_LINE, type ChangedBy } from '../store/ports/audit.ts';
import type { Ledger } from '../store/ports/ledger.ts';
import type { Caps, LimitLayer, Subject } from '../store/ports/limits.ts';
import type { PolicyBook, StoredAccount } from '../store/ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports/records.ts';

/** The limit rules that bind calls. */
export interface RulesInForce {
  get(subject: Subject): Caps | null;
  /** Null takes the subject's rule away. */
  put(subject: Subject, caps: Caps | null): void;
}

/** A link that works once. */
export interface OneTimeLink {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** `unknown`: no user has the address. `several`: users have it, in these accounts. */
export type ResetMade =
  | { readonly kind: 'made'; readonly link: OneTimeLink & { readonly person: string } }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'several'; readonly accounts: readonly string[] };

/** The console's one-time links. */
export interface ConsoleLinks {
  /** To set it up, those before it work no more; null: somebody has. */
  makeSetUp(): Promise<OneTimeLink | null>;
  /** To a new password, the one before it works no more. `account`: of which of several users of the address. */
  makeReset(email: string, account: string | null, endsSecondFactor: boolean): Promise<ResetMade>;
  /** Of the running server: whether it serves the console, and what links begin with. Null: none runs. */
  readonly served: () => { readonly console: boolean; readonly baseUrl: string } | null;
}

/** What a user is whose address was verified. */
export interface VerifiedUser {
  readonly person: string;
  readonly email: string;
  readonly name: string;
  readonly account: string | null;
  readonly createdAtMs: number;
  readonly hasPassword: boolean;
  readonly passkeyCount: number;
  readonly sessionCount: number;
  /** Accounts whose membership was suspended until now. */
  readonly restored: readonly string[];
  readonly rights: MakerRights;
}

/** The users of the console, as far as commands change them. */
export interface ConsoleUsers {
  /** Rejects with a failure of the kind `invalid` for an address that is none. */
  verifyEmail(
    email: string,
    account: string | null,
  ): Promise<
    | { readonly kind: 'done'; readonly user: VerifiedUser }
    | { readonly kind: 'unknown' }
    | { readonly kind: 'verified'; readonly person: string }
    | { readonly kind: 'several'; readonly accounts: readonly string[] }
  >;
}

/** The public names of models, aliases too, and where they are so: words after "there is no model". */
export interface ModelNames {
  readonly names: readonly string[];
  readonly place: string;
}

/** What commands work on: first what is on disk, then what is in memory. */
export interface ControlContext {
  readonly policies: PolicyBook;
  readonly ledger: Pick<Ledger, 'topup' | 'correct' | 'readMovement' | 'readBalances'>;
  readonly directory: KeyDirectory;
  readonly limits: RulesInForce;
  /** Told of money that came to an account (negative: left it) outside of calls, once that is durable. Integer nano-USD. */
  credit(account: string, amount: bigint): void | Promise<void>;
  /** Told of an account that is new or changed, once that is durable and before its keys are bound by it. */
  bindAccount(account: StoredAccount): void | Promise<void>;
  readonly links: ConsoleLinks;
  readonly users: ConsoleUsers;
  /** The models that are served; null: it is not known here, and none is refused for its name. */
  modelNames(): ModelNames | null | Promise<ModelNames | null>;
  /** The present, unix ms. */
  nowMs(): number;
}

/** Who asks for a command, and with whose authority: the operator's, or that of the people of one account. */
export interface CommandOrigin extends ChangedBy {
  readonly authority: LimitLayer;
}

/** Whoever has the data folder. */
export const FROM_COMMAND_LINE: CommandOrigin = { ...BY_COMMAND_LINE, authority: 'operator' };

/** One run of a command: what it works on, what it is called, and who asks. */
export interface CommandRun extends ControlContext {
  readonly act: string;
  readonly by: CommandOrigin;
}

/** A value that JSON carries whole. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** `usage`: asked for wrongly. `failed`: what was asked cannot be done. `forbidden`: not by who asks. The message says what to do. */
export type ControlReply =
  | { readonly ok: true; readonly result: Json }
  | { readonly ok: false; readonly kind: 'usage' | 'failed' | 'forbidden'; readonly message: string };

/** A reply, or a fault after which nobody knows whether it was done. */
export type ControlAnswer = ControlReply | { readonly ok: false; readonly kind: 'unknown'; readonly message: string };

/** A command with its arguments already checked: takes its run and raw arguments. */
export type ControlCommand = (run: CommandRun, rawArguments: unknown) => Promise<ControlReply>;

/** Thrown by a command's work where it cannot be done, or was asked for wrongly; the message says what to do. */
export class CommandFailure extends Error {
  readonly kind: 'usage' | 'failed' | 'forbidden';

  constructor(message: string, kind: CommandFailure['kind'] = 'failed') {
    super(message);
    this.name = 'CommandFailure';
    this.kind = kind;
  }
}

/** A command of its arguments' shape and its work. What does not fit the shape never reaches the work. */
export function defineCommand<Shape extends z.ZodType>(
  shape: Shape,
  work: (run: CommandRun, given: z.output<Shape>) => Promise<Json>,
): ControlCommand {
  return async (run, rawArguments) => {
    const given = shape.safeParse(rawArguments);
    if (!given.success) return { ok: false, kind: 'usage', message: given.error.issues.map(renderIssue).join('\n') };
    try {
      return { ok: true, result: await work(run, given.data) };
    } catch (fault) {
      if (fault instanceof CommandFailure) return { ok: false, kind: fault.kind, message: fault.message };
      throw fault;
    }
  };
}

function renderIssue(issue: z.core.$ZodIssue): string {
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`;
}

/** @throws CommandFailure where there is no such key. */
export function findKey({ directory }: ControlContext, id: string): StoredKey {
  const key = directory.keys.get(id);
  if (key === undefined)
    throw new CommandFailure(
      `There is no key with the id ${JSON.stringify(maskKeys(id))}. List them: tollgate keys list`,
    );
  return key;
}

/** A key that can still be changed. @throws CommandFailure where there is none, or it is revoked. */
export function findLivingKey(context: ControlContext, id: string): StoredKey {
  const key = findKey(context, id);
  if (key.status === 'revoked') {
    throw new CommandFailure(
      `The key ${id} is revoked, which is for good. Create another one: tollgate keys create --name NAME`,
    );
  }
  return key;
}

/** @throws CommandFailure where there is no such workspace. */
export function findWorkspace({ directory }: ControlContext, id: string): StoredWorkspace {
  const workspace = directory.workspaces.get(id);
  if (workspace === undefined) {
    throw new CommandFailure(
      `There is no workspace with the id ${JSON.stringify(id)}. List them: tollgate workspaces list; or make it: tollgate workspaces create ID`,
    );
  }
  return workspace;
}

/** @throws CommandFailure where there is no such account. */
export function findAccount({ directory }: ControlContext, id: string): StoredAccount {
  const account = directory.accounts.get(id);
  if (account === undefined) {
    throw new CommandFailure(
      `There is no account with the id ${JSON.stringify(id)}. List them: tollgate accounts list; or make it: tollgate accounts create ID`,
    );
  }
  return account;
}
