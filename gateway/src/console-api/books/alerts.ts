/** Serves the alert rules of an account, their deliveries, and the inbox of its members. */
import { viewAlert } from '../../control/alert-commands.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { OPERATOR_ACCOUNT } from '../../people/roles.ts';
import { ALERT_EVENTS, type AlertDelivery, type AlertRule, OPERATOR_EVENTS } from '../../store/ports/books/alerts.ts';
import type { Reply } from '../contract/contract.ts';
import { type Actor, isOperator, type Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { type PolicyParts, runCommand } from '../policy/policy-parts.ts';

const INBOX_MAX = 50;
const DELIVERIES_MAX = 50;

type ShownRule = Omit<Reply<'GET /accounts/{account}/alerts'>['rules'][number], 'last'>;
type Changed = Reply<'POST /accounts/{account}/alerts'>;
type ShownDelivery = Reply<'GET /accounts/{account}/alerts/{alert}/deliveries'>['deliveries'][number];

type Parts = Pick<PolicyParts, 'control' | 'nowMs' | 'alerts' | 'deps' | 'readMemberAddresses'>;

export function alertHandlers({ control, alerts, deps, readMemberAddresses, nowMs }: Parts) {
  const isFree = ({ account }: Tenancy, actor: Actor) => account === OPERATOR_ACCOUNT || isOperator(actor);
  /** The mail server is the operator's: other accounts send to their members only. */
  async function checkRecipients(tenancy: Tenancy, actor: Actor, to: readonly string[]): Promise<void> {
    if (to.length === 0 || isFree(tenancy, actor)) return;
    const known = new Set(await readMemberAddresses(tenancy.account));
    const stranger = to.find((address) => !known.has(address.toLowerCase()));
    if (stranger === undefined) return;
    throw new ConsoleFailure('invalid', `to: found ${stranger}, expected addresses of members of this account`, {
      member: 'to',
    });
  }
  const rulesOf = async ({ account }: Tenancy) => (await alerts.readRules()).filter((rule) => rule.account === account);
  async function find(tenancy: Tenancy, id: string): Promise<AlertRule> {
    const rule = (await rulesOf(tenancy)).find((one) => one.id === id);
    if (rule !== undefined) return rule;
    throw new ConsoleFailure('not_found', 'there is no such alert; see the list of alerts', { page: '/app/alerts' });
  }
  return {
    'GET /accounts/{account}/alerts': async ({ tenancy, actor }) => {
      const { account } = tenancy;
      const [rules, inbox, seenAtMs] = await Promise.all([
        rulesOf(tenancy),
        alerts.readInbox(account, INBOX_MAX),
        alerts.readSeen(account, idOf(actor)),
      ]);
      const names = new Map(rules.map(({ id, name }) => [id, name]));
      return {
        rules: await Promise.all(
          rules.map(async (rule) => {
            const [last] = await alerts.readDeliveries(rule.id, 1);
            return { ...showRule(viewAlert(rule)), last: last === undefined ? null : showDelivery(last) };
          }),
        ),
        inbox: inbox.map(({ id, rule, text, remedy, createdAtMs }) => ({
          ...{ id, text, remedy },
          at: new Date(createdAtMs).toISOString(),
          rule: { id: rule, name: names.get(rule) ?? rule },
          is_new: createdAtMs > seenAtMs,
        })),
        email_to: deps.settings.config.server.smtp === null ? 'none' : isFree(tenancy, actor) ? 'anyone' : 'members',
        events: ALERT_EVENTS.filter((event) => account === OPERATOR_ACCOUNT || !OPERATOR_EVENTS.has(event)),
      };
    },
    'GET /accounts/{account}/alerts/unseen': async ({ tenancy, actor }) => ({
      unseen: await alerts.countUnseen(tenancy.account, idOf(actor)),
    }),
    'POST /accounts/{account}/alerts/seen': async ({ tenancy, actor, body }) => {
      // What is created from now on is not seen, whatever the clock of the browser says.
      await alerts.saveSeen(tenancy.account, idOf(actor), Math.min(Date.parse(body.until), nowMs()));
      return {};
    },
    'POST /accounts/{account}/alerts': async (call) => {
      const { account } = call.tenancy;
      await checkRecipients(call.tenancy, call.actor, call.body.to ?? []);
      return showChanged(await runCommand<Changed>(control, call, 'alerts.create', { account, ...call.body }));
    },
    'PATCH /accounts/{account}/alerts/{alert}': async (call) => {
      const { id } = await find(call.tenancy, call.path.alert);
      await checkRecipients(call.tenancy, call.actor, call.body.to ?? []);
      return showChanged(await runCommand<Changed>(control, call, 'alerts.set', { id, ...call.body }));
    },
    'DELETE /accounts/{account}/alerts/{alert}': async (call) => {
      const { id } = await find(call.tenancy, call.path.alert);
      await runCommand(control, call, 'alerts.delete', { id });
      return {};
    },
    'POST /accounts/{account}/alerts/{alert}/test': async (call) => {
      const { id } = await find(call.tenancy, call.path.alert);
      await runCommand(control, call, 'alerts.test', { id });
      return {};
    },
    'GET /accounts/{account}/alerts/{alert}/deliveries': async ({ tenancy, path }) => {
      const { id } = await find(tenancy, path.alert);
      return { deliveries: (await alerts.readDeliveries(id, DELIVERIES_MAX)).map(showDelivery) };
    },
  } satisfies Partial<Handlers>;
}

/** Keys have an inbox of their own. */
function idOf(actor: Actor): string {
  return actor.kind === 'anonymous' ? '' : actor.id;
}

function showRule({ id, name, event, threshold, channel, receiver, ...rest }: ShownRule): ShownRule {
  const { renotify_hours, quiet, muted_until, created_at } = rest;
  return { id, name, event, threshold, channel, receiver, renotify_hours, quiet, muted_until, created_at };
}

function showChanged({ signing_secret, ...rule }: Changed): Changed {
  return { ...showRule(rule), signing_secret };
}

function showDelivery({ id, createdAtMs, status, attempts, error, text }: AlertDelivery): ShownDelivery {
  return { id, at: new Date(createdAtMs).toISOString(), status, attempts, error, text };
}
