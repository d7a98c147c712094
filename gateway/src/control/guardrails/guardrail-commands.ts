/** Defines the commands for guardrail rules. They are applied to requests by the running server. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_CHECKS,
  GUARDRAIL_SIDES,
  type GuardrailCheck,
  type GuardrailRule,
} from '../../store/ports/books/guardrails.ts';
import { asRead, givenId } from '../arguments.ts';
import {
  CommandFailure,
  type CommandRun,
  type ControlCommand,
  defineCommand,
  findAccount,
  findWorkspace,
} from '../command.ts';
import { hookAddress, type SealedHook, sealHook } from '../hooks.ts';
import { auditChange, refuseStale, type ShownMembers } from '../policy-changes.ts';
import { readItems } from './guardrail-items.ts';

/** All of an account's rules run on each of its requests. */
const RULES_MAX = 50;
const HOOK_TIMEOUT_MS = 2_000;
const TRIAL_CHARACTERS_MAX = 20_000;

const settings = {
  name: z.string().trim().min(1, 'enter a name').max(100, 'at most 100 characters'),
  /** Null: all workspaces of the account. */
  workspace: givenId.nullable(),
  items: z.array(z.string()),
  side: z.enum(GUARDRAIL_SIDES),
  action: z.enum(GUARDRAIL_ACTIONS),
  fails_open: z.boolean(),
  timeout_ms: z
    .int('expected 100 to 10000 ms')
    .min(100, 'expected 100 to 10000 ms')
    .max(10_000, 'expected 100 to 10000 ms'),
  url: hookAddress,
  enabled: z.boolean(),
};

const create = defineCommand(
  z.strictObject({
    account: givenId.default('default'),
    check: z.enum(GUARDRAIL_CHECKS),
    ...z.object(settings).partial().shape,
    name: settings.name,
  }),
  async (run, given) => {
    const { account, check, name, workspace = null, items = [], side = 'request', fails_open = false } = given;
    findAccount(run, account);
    checkWorkspace(run, account, workspace);
    refuseForCheck(check, given);
    const count = (await run.guardrails.readRules()).filter((rule) => rule.account === account).length;
    if (count >= RULES_MAX) {
      throw new CommandFailure(
        `The account has ${RULES_MAX} guardrails, the maximum. Delete one: tollgate guardrails delete ID`,
      );
    }
    const id = `grl_${randomBytes(12).toString('hex')}`;
    const hook = check === 'hook' ? await chooseHook(run, { id, account }, given.url) : null;
    const rule: GuardrailRule = {
      ...{ id, account, workspace, name, check, side },
      items: readItems(check, items),
      action: given.action ?? (check === 'secrets' || check === 'personal_data' ? 'mask' : 'block'),
      failsOpen: fails_open,
      receiver: hook?.receiver ?? '',
      sealed: hook?.sealed ?? null,
      timeoutMs: check === 'hook' ? (given.timeout_ms ?? HOOK_TIMEOUT_MS) : 0,
      enabled: given.enabled ?? true,
      createdAtMs: run.nowMs(),
    };
    await run.guardrails.createRule(rule, auditRule(run, rule, null, shownInAudit(rule)));
    return { ...viewGuardrail(rule), signing_secret: hook?.signing.reveal() ?? null };
  },
);

const set = defineCommand(
  z.strictObject({
    id: z.string(),
    ...z.object(settings).partial().shape,
    before: asRead,
  }),
  async (run, given) => {
    const before = await findRule(run, given.id);
    refuseStale(before.name, viewGuardrail(before), given.before);
    const { name, workspace, items, side, action, fails_open, timeout_ms, url, enabled } = given;
    if (workspace !== undefined) checkWorkspace(run, before.account, workspace);
    refuseForCheck(before.check, given);
    const hook = url === undefined ? null : await chooseHook(run, before, url);
    const rule: GuardrailRule = {
      ...before,
      name: name ?? before.name,
      workspace: workspace === undefined ? before.workspace : workspace,
      items: items === undefined ? before.items : readItems(before.check, items),
      side: side ?? before.side,
      action: action ?? before.action,
      failsOpen: fails_open ?? before.failsOpen,
      timeoutMs: timeout_ms ?? before.timeoutMs,
      enabled: enabled ?? before.enabled,
      ...(hook === null ? {} : { receiver: hook.receiver, sealed: hook.sealed }),
    };
    const entries = auditRule(run, rule, shownInAudit(before), {
      ...shownInAudit(rule),
      ...changedUnseen(before, rule),
    });
    if (entries.length > 0) await run.guardrails.changeRule(rule, entries);
    return { ...viewGuardrail(rule), signing_secret: hook?.signing.reveal() ?? null };
  },
);

const list = defineCommand(z.strictObject({}), async ({ guardrails }) =>
  (await guardrails.readRules()).map(viewGuardrail),
);

const remove = defineCommand(z.strictObject({ id: z.string() }), async (run, { id }) => {
  const rule = await findRule(run, id);
  await run.guardrails.deleteRule(id, auditRule(run, rule, shownInAudit(rule), null));
  return { id };
});

const test = defineCommand(
  z.strictObject({
    id: z.string(),
    text: z.string().min(1, 'enter a text').max(TRIAL_CHARACTERS_MAX, `at most ${TRIAL_CHARACTERS_MAX} characters`),
    side: z.enum(['request', 'answer']).optional(),
  }),
  async (run, { id, text, side }) => {
    const rule = await findRule(run, id);
    if (run.tryGuardrail === null) {
      throw new CommandFailure(
        'No server is running, which applies the rules. Start it, then test again: tollgate serve',
      );
    }
    const {
      outcome,
      findings,
      message,
      text: after,
    } = await run.tryGuardrail(rule, text, side ?? (rule.side === 'answer' ? 'answer' : 'request'));
    return { outcome, text: after, findings: findings.map(({ name, count }) => ({ name, count })), message };
  },
);

/** Checks and seals the address of a hook. */
async function chooseHook(
  run: CommandRun,
  rule: Pick<GuardrailRule, 'id' | 'account'>,
  address: string | undefined,
): Promise<SealedHook> {
  if (address === undefined) throw new CommandFailure('url: found nothing, expected the address of the hook', 'usage');
  return sealHook(run, 'guardrail rule', rule, address);
}

/** Refuses arguments that a rule of this check ignores. */
function refuseForCheck(
  check: GuardrailCheck,
  given: { readonly [member in 'url' | 'timeout_ms' | 'items' | 'action']?: unknown },
): void {
  const refused = check === 'hook' ? (['items', 'action'] as const) : (['url', 'timeout_ms'] as const);
  const why = check === 'hook' ? 'a hook decides itself' : 'only a hook has it';
  for (const member of refused)
    if (given[member] !== undefined)
      throw new CommandFailure(`${member}: found a value, expected none: ${why}`, 'usage');
}

function checkWorkspace(run: CommandRun, account: string, workspace: string | null): void {
  if (workspace === null || findWorkspace(run, workspace).accountId === account) return;
  throw new CommandFailure(
    `workspace: found ${workspace}, which is not of the account ${account}, expected one of its workspaces`,
    'usage',
  );
}

async function findRule({ guardrails }: CommandRun, id: string): Promise<GuardrailRule> {
  const rule = (await guardrails.readRules()).find((one) => one.id === id);
  if (rule !== undefined) return rule;
  throw new CommandFailure(
    `There is no guardrail with the id ${JSON.stringify(id.slice(0, 60))}. List them: tollgate guardrails list`,
  );
}

/** Renders a rule, without its address and secret. */
export function viewGuardrail(rule: GuardrailRule) {
  const { id, account, workspace, name, check, items, side, action, failsOpen, receiver, timeoutMs, enabled } = rule;
  return {
    ...{ id, account, workspace, name, check, side, receiver, enabled },
    items: [...items],
    /** A hook chooses itself. */
    action: check === 'hook' ? null : action,
    fails_open: failsOpen,
    timeout_ms: check === 'hook' ? timeoutMs : null,
    created_at: new Date(rule.createdAtMs).toISOString(),
  };
}

/** Without terms: they may be as confidential as what they protect, and the trail keeps them for ever. */
function shownInAudit(rule: GuardrailRule): ShownMembers {
  const { account: _, items, ...shown } = viewGuardrail(rule);
  return { ...shown, items: rule.check === 'terms' ? `${items.length} terms` : items };
}

/** Changes of what the trail does not show. */
function changedUnseen(before: GuardrailRule, after: GuardrailRule): ShownMembers {
  const isReworded = after.check === 'terms' && JSON.stringify(before.items) !== JSON.stringify(after.items);
  return {
    ...(isReworded ? { items: `${after.items.length} terms, changed` } : {}),
    // An address may change within its origin, which is all that is shown of it.
    ...(before.sealed === after.sealed ? {} : { address: 'replaced' }),
  };
}

function auditRule(
  run: CommandRun,
  { id, account, workspace }: GuardrailRule,
  before: ShownMembers | null,
  after: ShownMembers | null,
) {
  return auditChange(run, { account, workspace, subject: { kind: 'guardrail', id }, before, after });
}

export const GUARDRAIL_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['guardrails.create', create],
  ['guardrails.set', set],
  ['guardrails.list', list],
  ['guardrails.delete', remove],
];

/** It waits for hooks, and changes nothing. */
export const GUARDRAIL_TRIALS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['guardrails.test', test],
];
