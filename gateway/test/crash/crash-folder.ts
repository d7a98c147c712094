/** Creates a data folder of the crash loop with its accounts and keys, and tracks what is known of its calls. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { emptyTruth, type GroundTruth, type Topup } from './ground-truth.ts';
import { crashConfig, PAYERS, type Payer, type Role } from './roles.ts';

export interface CrashFolder {
  readonly dataDir: string;
  readonly fake: FakeUpstream;
  readonly config: object;
  readonly keys: Readonly<Record<Payer, string>>;
  readonly truth: GroundTruth;
  /** Calls whose runs are requested again after the next start. */
  readonly again: { readonly label: string; readonly role: Role }[];
  /** Returns a label that was never used. */
  newLabel(): string;
  remove(): void;
}

/** Budget of the account `capped`, nano-USD: it runs out after some rounds. */
export const BUDGET = 12_000_000n;
const MODES = { default: 'postpaid', rich: 'prepaid', poor: 'prepaid', capped: 'postpaid' } as const;
const FIRST_TOPUPS: readonly (readonly [account: Payer, amount: bigint])[] = [
  ['rich', 1_000_000_000_000n],
  ['poor', 20_000_000n],
];

/**
 * Creates a folder; its first gateway is killed as soon as it has acknowledged the accounts, the keys and the money.
 */
export async function createCrashFolder(fake: FakeUpstream): Promise<CrashFolder> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-crash-loop-'));
  const dataDir = join(home, 'data');
  const config = crashConfig(fake.url);
  const truth = emptyTruth();
  const gateway = await startGateway({ config, dataDir });
  const keys: Record<Payer, string> = { default: gateway.key, rich: '', poor: '', capped: '' };
  for (const payer of PAYERS) {
    if (payer === 'default') continue;
    const budget = payer === 'capped' ? { budget_usd: '0.012', budget_window: 'total' } : {};
    await control(gateway, 'accounts.create', { id: payer, mode: MODES[payer], ...budget });
    await control(gateway, 'workspaces.create', { id: payer, account: payer });
    keys[payer] = (await createKey(gateway, { workspace: payer })).key;
  }
  for (const [account, amount] of FIRST_TOPUPS) await topUp(gateway, newTopup(truth, account, amount));
  await killGateway(gateway);
  let labels = 0;
  const newLabel = () => {
    labels += 1;
    return `call-${labels}`;
  };
  const remove = () => rmSync(home, { recursive: true });
  return { dataDir, fake, config, keys, truth, again: [], newLabel, remove };
}

/** A top-up that was not requested yet. */
export function newTopup(truth: GroundTruth, account: Payer, amount: bigint): Topup {
  const topup = { id: `topup-${truth.topups.length}`, account, amount, isOpen: true };
  truth.topups.push(topup);
  return topup;
}

/** Requests it, for the first time or again; rejects if it is not acknowledged. */
export async function topUp(gateway: RunningGateway, topup: Topup): Promise<void> {
  const { id, account, amount } = topup;
  const usd = `${amount / 1_000_000_000n}.${(amount % 1_000_000_000n).toString().padStart(9, '0')}`;
  await control(gateway, 'accounts.topup', { account, usd, id });
  topup.isOpen = false;
}

/** Kills with -9, waits for the death, and deletes the start's own folder. */
export async function killGateway(gateway: RunningGateway): Promise<void> {
  gateway.signal('SIGKILL');
  await gateway.exited;
  await gateway.stop();
}
