/** Defines the commands for limit rules of any subject but a key, whose caps are set with the key. */
import { z } from 'zod';
import { chooseNearName } from '../errors/near-name.ts';
import { maskKeys } from '../lib/secret.ts';
import { endUserSubject, inLayer, type Subject } from '../store/ports/limits.ts';
import { capArguments, endUserName, givenId, modelName, namesCaps } from './arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  type ControlContext,
  defineCommand,
  findAccount,
  findWorkspace,
} from './command.ts';
import {
  auditChange,
  chooseRuleChange,
  type LayeredCaps,
  layeredCapsOf,
  OPERATOR_ACCOUNT,
  storeChanges,
} from './policy-changes.ts';
import { viewLayeredCaps, viewRule, viewRules } from './views.ts';

const list = defineCommand(z.strictObject({}), async ({ policies, modelNames }) =>
  viewRules(await policies.readLimitRules(), await modelNames()),
);

/** Exactly one subject; an account given with an end user says which account the end user belongs to. */
const subjectArguments = {
  account: givenId.optional(),
  workspace: givenId.optional(),
  end_user: endUserName.optional(),
  model: modelName.optional(),
};

interface GivenSubject {
  readonly account?: string | undefined;
  readonly workspace?: string | undefined;
  readonly end_user?: string | undefined;
  readonly model?: string | undefined;
}

const set = defineCommand(z.strictObject({ ...subjectArguments, ...capArguments }), async (context, given) => {
  if (!namesCaps(given)) {
    throw new CommandFailure(
      'nothing to change; expected at least one of rpm, tpm, concurrency, budget_usd and budget_window',
      'usage',
    );
  }
  const subject = findSubject(context, given);
  const before = layeredCapsOf(context, subject);
  // An existing rule outlives its model, and can be changed and removed.
  if (subject.kind === 'model' && before.operator === null) await requireModel(context, subject.id);
  const { changes, caps, layer } = chooseRuleChange(context, subject, accountOf(context, subject), given);
  await storeChanges(context, changes, auditRule(context, subject, { before, after: caps }));
  return viewRule(inLayer(subject, layer), caps[layer]);
});

function auditRule(
  run: CommandRun,
  subject: Subject,
  { before, after }: { readonly before: LayeredCaps; readonly after: LayeredCaps },
) {
  const { kind, id } = subject;
  const named = { kind, account: kind === 'end_user' ? accountOf(run, subject) : null };
  return auditChange(run, {
    account: accountOf(run, subject) ?? OPERATOR_ACCOUNT,
    workspace: kind === 'workspace' ? id : null,
    subject,
    before: isEmpty(before) ? null : { ...named, ...viewLayeredCaps(before) },
    after: { ...named, ...viewLayeredCaps(after) },
  });
}

function isEmpty({ operator, account }: LayeredCaps): boolean {
  return operator === null && account === null;
}

/** Null: a model's rule applies to all accounts together and belongs to the installation. */
function accountOf({ directory }: CommandRun, { kind, id }: Subject): string | null {
  if (kind === 'workspace') return directory.workspaces.get(id)?.accountId ?? OPERATOR_ACCOUNT;
  if (kind === 'end_user') return id.slice(0, id.indexOf('/'));
  return kind === 'account' ? id : null;
}

function findSubject(context: ControlContext, { account, workspace, end_user, model }: GivenSubject): Subject {
  const named = [workspace, end_user, model].filter((each) => each !== undefined).length;
  if (named > 1 || (account !== undefined && (workspace ?? model) !== undefined) || (named === 0 && !account)) {
    throw new CommandFailure(
      'expected exactly one of account, workspace, end_user and model (account can be given with end_user)',
      'usage',
    );
  }
  if (workspace !== undefined) return { kind: 'workspace', id: findWorkspace(context, workspace).id };
  if (model !== undefined) return { kind: 'model', id: model };
  const payer = findAccount(context, account ?? 'default').id;
  return end_user === undefined ? { kind: 'account', id: payer } : endUserSubject(payer, end_user);
}

/** @throws CommandFailure if the served models are known and this is not one of them. */
async function requireModel({ modelNames }: ControlContext, model: string): Promise<void> {
  const known = await modelNames();
  if (known === null || known.names.includes(model)) return;
  const near = chooseNearName(model, known.names);
  throw new CommandFailure(
    `There is no model called ${JSON.stringify(maskKeys(model))} ${known.place}. ${
      near === null ? 'Name a served model by any of its names: GET /v1/models lists them.' : `Did you mean "${near}"?`
    }`,
  );
}

export const LIMIT_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['limits.list', list],
  ['limits.set', set],
];
