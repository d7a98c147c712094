/** Checks and seals the addresses of hooks: services of users that the gateway sends signed requests to. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { checkConsoleAddress } from '../config/console-providers.ts';
import { Secret } from '../lib/secret.ts';
import { CommandFailure, type CommandRun } from './command.ts';
import { OPERATOR_ACCOUNT } from './policy-changes.ts';

/** What has a hook, as its address is sealed. No provider has a name with a space. */
export type HookOwner = 'alert rule' | 'guardrail rule';

/** Checked by `sealHook`. */
export const hookAddress = z.url({ protocol: /^https?$/, error: 'expected an https address' }).max(2_000);

export interface SealedHook {
  /** The origin of the address. */
  readonly receiver: string;
  /** The address and the signing secret, sealed for this rule and origin; base64. */
  readonly sealed: string;
  readonly signing: Secret;
}

/**
 * Seals the address of a rule's hook with a new secret that signs what is sent there. The address is public https; the
 * operator's account may also name an origin under `server.private_origins`.
 *
 * @throws CommandFailure for the argument `url`
 */
export async function sealHook(
  run: CommandRun,
  owner: HookOwner,
  { id, account }: { readonly id: string; readonly account: string },
  address: string,
): Promise<SealedHook> {
  const { origin, username, password } = new URL(address);
  if (username !== '' || password !== '') {
    throw new CommandFailure('url: found a user name or password, expected an address without them', 'usage');
  }
  const served = account === OPERATOR_ACCOUNT ? await run.routing.served() : null;
  const fault = checkConsoleAddress({ url: address, origin }, served?.config.server.privateOrigins ?? []);
  if (fault !== null) {
    throw new CommandFailure(`url: found ${fault.found}, expected ${fault.expected}. ${fault.advice}`, 'usage');
  }
  const signing = new Secret(`whsec_${randomBytes(32).toString('hex')}`);
  const sealed = run.routing.seal({ provider: owner, name: id }, origin, { url: new Secret(address), signing });
  return { receiver: origin, sealed, signing };
}
