/**
 * Provides priced models, customers and reads of the ledger for the suites on money. Its only assertion is `verify`.
 */
import { formatNanoUsd } from '../../src/billing/money.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import type { Pair } from '../harness/start-pair.ts';
import type { Side } from '../http-contract/calls.ts';
import { control } from '../http-contract/make-key.ts';

type Administered = Pick<RunningGateway, 'dataDir'>;

/** A public model: the format of its upstream, its name there, and its price in USD per million tokens. */
export interface PricedModel {
  readonly host: Side;
  readonly model?: string;
  /** Omitted: the model has no price. */
  readonly price?: object | 'free';
}

/** Returns the configuration of a gateway with one fake upstream that speaks both formats. */
export function moneyConfig(fakeUrl: string, models: Readonly<Record<string, PricedModel>>, more: object = {}): object {
  const base_url = `${fakeUrl}/v1`;
  const targetOf = ({ host, model, price }: PricedModel) => ({
    targets: [{ provider: host === 'chat' ? 'lab' : 'lab-messages', ...(model === undefined ? {} : { model }) }],
    ...(price === undefined ? {} : { price }),
  });
  return {
    ...more,
    providers: {
      lab: { kind: 'openai-compatible', base_url, api_key: 'none' },
      'lab-messages': { kind: 'anthropic', base_url, api_key: 'none' },
    },
    models: Object.fromEntries(Object.entries(models).map(([name, model]) => [name, targetOf(model)])),
  };
}

/** An account with one workspace and one key. */
export interface Customer {
  readonly account: string;
  readonly workspace: string;
  readonly keyId: string;
  readonly key: string;
}

let customers = 0;

/** Creates a customer; `account` and `key` as the commands `accounts.create` and `keys.create` take them. */
export async function newCustomer(
  gateway: Administered,
  { account = {}, key = {} }: { readonly account?: object; readonly key?: object } = {},
): Promise<Customer> {
  customers += 1;
  const [accountId, workspace] = [`a${customers}`, `w${customers}`];
  await control(gateway, 'accounts.create', { id: accountId, ...account });
  await control(gateway, 'workspaces.create', { id: workspace, account: accountId });
  const made = (await control(gateway, 'keys.create', { name: 'a test', workspace, ...key })) as {
    readonly id: string;
    readonly key: string;
  };
  return { account: accountId, workspace, keyId: made.id, key: made.key };
}

/** Creates a prepaid customer with this balance in nano-USD. */
export async function newPrepaid(gateway: Administered, balance: bigint, key: object = {}): Promise<Customer> {
  const customer = await newCustomer(gateway, { account: { mode: 'prepaid' }, key });
  if (balance > 0n) await topUp(gateway, customer, balance);
  return customer;
}

export async function topUp(gateway: Administered, { account }: Customer, amount: bigint): Promise<void> {
  await control(gateway, 'accounts.topup', { account, usd: formatNanoUsd(amount) });
}

/** An account's money according to the ledger, in nano-USD. */
export interface Money {
  readonly available: bigint;
  readonly held: bigint;
  readonly charged: bigint;
  readonly writtenOff: bigint;
}

export async function moneyOf(gateway: Administered, { account }: Pick<Customer, 'account'>): Promise<Money> {
  const accounts = (await control(gateway, 'accounts.list', {})) as Readonly<Record<string, string>>[];
  const found = accounts.find(({ id }) => id === account);
  if (found === undefined) throw new Error(`there is no account ${account}`);
  const amount = (member: string) => BigInt(found[`${member}_nano_usd`] ?? 'none');
  return {
    available: amount('balance'),
    held: amount('held'),
    charged: amount('charged'),
    writtenOff: amount('written_off'),
  };
}

/** Runs `verify` while the server runs; returns how many calls the ledger has settled. Throws with the violations. */
export async function verified({ gateway }: Pair): Promise<number> {
  const { status, stdout, stderr } = await gateway.run('verify', '--json');
  if (status !== 0) throw new Error(`verify ended with ${status}: ${stdout}${stderr}`);
  return (JSON.parse(stdout) as { readonly calls: number }).calls;
}
