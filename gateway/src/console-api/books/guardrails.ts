/** Serves the guardrails of an account. Members restricted to workspaces have those of their workspaces. */
import { viewGuardrail } from '../../control/guardrails/guardrail-commands.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { DETECTORS } from '../../guardrails/detectors.ts';
import type { GuardrailRule } from '../../store/ports/books/guardrails.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { findWorkspace, type PolicyParts, runCommand, seesWorkspace } from '../policy/policy-parts.ts';

type ShownRule = Reply<'GET /accounts/{account}/guardrails'>['rules'][number];
type Changed = Reply<'POST /accounts/{account}/guardrails'>;
type Trial = Reply<'POST /accounts/{account}/guardrails/{guardrail}/test'>;

const TITLES: ReadonlyMap<string, string> = new Map(DETECTORS.map(({ name, title }) => [name, title]));

export function guardrailHandlers(parts: Pick<PolicyParts, 'control' | 'guardrails' | 'deps'>) {
  const { control, guardrails } = parts;
  const rulesOf = async (tenancy: Tenancy) =>
    (await guardrails.readRules()).filter(
      ({ account, workspace }) =>
        account === tenancy.account &&
        (tenancy.workspaces === null || (workspace !== null && seesWorkspace(tenancy, workspace))),
    );
  async function find(tenancy: Tenancy, id: string): Promise<GuardrailRule> {
    const rule = (await rulesOf(tenancy)).find((one) => one.id === id);
    if (rule !== undefined) return rule;
    throw new ConsoleFailure('not_found', 'there is no such guardrail; see the list of guardrails', {
      page: '/app/guardrails',
    });
  }
  function checkWorkspace(tenancy: Tenancy, workspace: string | null): void {
    if (workspace !== null) findWorkspace(parts, tenancy, workspace);
    else if (tenancy.workspaces !== null) {
      const message = 'workspace: found nothing, expected one of your workspaces: you do not have the whole account';
      throw new ConsoleFailure('forbidden', message, { member: 'workspace' });
    }
  }
  return {
    'GET /accounts/{account}/guardrails': async ({ tenancy }) => ({
      rules: (await rulesOf(tenancy)).map((rule) => showRule(viewGuardrail(rule))),
      detectors: DETECTORS.map(({ name, check, title, description }) => ({ name, check, title, description })),
    }),
    'POST /accounts/{account}/guardrails': async (call) => {
      const { account } = call.tenancy;
      checkWorkspace(call.tenancy, call.body.workspace ?? null);
      if (call.body.check === 'hook') requireHooks(call.tenancy, 'check');
      return showChanged(await runCommand<Changed>(control, call, 'guardrails.create', { account, ...call.body }));
    },
    'PATCH /accounts/{account}/guardrails/{guardrail}': async (call) => {
      const { id } = await find(call.tenancy, call.path.guardrail);
      if (call.body.workspace !== undefined) checkWorkspace(call.tenancy, call.body.workspace);
      if (call.body.url !== undefined) requireHooks(call.tenancy, 'url');
      return showChanged(await runCommand<Changed>(control, call, 'guardrails.set', { id, ...call.body }));
    },
    'DELETE /accounts/{account}/guardrails/{guardrail}': async (call) => {
      const { id } = await find(call.tenancy, call.path.guardrail);
      await runCommand(control, call, 'guardrails.delete', { id });
      return {};
    },
    'POST /accounts/{account}/guardrails/{guardrail}/test': async (call) => {
      const { id } = await find(call.tenancy, call.path.guardrail);
      const { outcome, text, findings, message } = await runCommand<Trial>(control, call, 'guardrails.test', {
        id,
        ...call.body,
      });
      const titled = findings.map(({ name, count }) => ({ name, title: TITLES.get(name) ?? name, count }));
      return { outcome, text, findings: titled, message };
    },
  } satisfies Partial<Handlers>;
}

/** @throws ConsoleFailure `forbidden`: a hook gets the text of requests. */
function requireHooks(tenancy: Tenancy, member: string): void {
  if (tenancy.may('guardrails.hooks') || tenancy.may('operator.write')) return;
  const message = `${member}: found a hook, whose address only owners of the account and operators set; ask one of them`;
  throw new ConsoleFailure('forbidden', message, { member });
}

function showRule({ id, name, workspace, check, items, side, action, ...rest }: ShownRule): ShownRule {
  const { fails_open, receiver, timeout_ms, enabled, created_at } = rest;
  return { id, name, workspace, check, items, side, action, fails_open, receiver, timeout_ms, enabled, created_at };
}

function showChanged({ signing_secret, ...rule }: Changed): Changed {
  return { ...showRule(rule), signing_secret };
}
