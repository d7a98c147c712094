/** Owns `GET /v1/key`: what the calling key may do, which limits bind it, and what its budgets have left. Contract, 3. */
import type { Defaults } from '../config/config.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { Gate } from '../gateway/gate.ts';
import { allowAddress, identify } from '../gateway/identify.ts';
import { readCredential } from '../gateway/read-credential.ts';
import type { Principal } from '../identity/principal.ts';
import type { BindingCaps, BudgetState } from '../store/limits-port.ts';
import type { StoredKey } from '../store/ports.ts';
import type { KeyStanding, ReadKeyStanding } from './key-standing.ts';
import { replyFailure, replyJson } from './reply-json.ts';

const PATH = '/v1/key';

/** What of the gate is asked. */
interface Asked extends Pick<Gate, 'directory' | 'log'> {
  readonly settings: { readonly config: { readonly defaults: Pick<Defaults, 'holds'> } };
}

/** Answers any valid key about itself, whatever its scopes. Throws CallFailure at once for a caller who may not ask. */
export function showKey(
  request: Request,
  address: () => string | null,
  gate: Asked,
  readStanding: ReadKeyStanding,
): Promise<Response> {
  const principal = identify(gate.directory, readCredential(request.headers, 'messages'));
  allowAddress(principal, principal.ranges === null ? null : address());
  const { defaults } = gate.settings.config;
  const key = gate.directory.keys.get(principal.keyId);
  if (key === undefined) throw new Error(`the directory holds no key ${principal.keyId}`);
  return readStanding(principal).then(
    (standing) => replyJson(renderKey(key, principal, defaults, standing)),
    (cause: unknown) => {
      gate.log.fault('', 'what a key has left could not be read', cause);
      const failure = new CallFailure(
        'store_away',
        'what this key has left cannot be read at the moment; try again soon',
      );
      return replyFailure(failure, PATH, request.headers);
    },
  );
}

function renderKey(
  key: StoredKey,
  { account, holds }: Principal,
  defaults: Pick<Defaults, 'holds'>,
  { rules, available }: KeyStanding,
): object {
  return {
    object: 'key',
    id: key.id,
    name: key.name,
    workspace: key.workspaceId,
    account: account.id,
    mode: account.mode,
    balance_nano_usd: available === null ? null : available.toString(),
    scopes: key.scopes,
    models: key.models,
    strict: key.strict,
    holds: holds ?? defaults.holds,
    expires_at: renderTime(key.expiresAtMs),
    limits: rules.map(({ binding, budget }) => renderLimit(binding, budget)),
  };
}

function renderLimit(binding: BindingCaps, state: BudgetState | null): object {
  const { subject, caps } = binding;
  return {
    of: subject.kind,
    id: subject.id,
    rpm: caps.requestsPerMinute,
    tpm: caps.tokensPerMinute,
    concurrency: caps.concurrency,
    budget: caps.budget === null || state === null ? null : renderBudget(binding, caps.budget, state),
  };
}

function renderBudget(
  { windowStartMs, windowEndMs }: BindingCaps,
  { window, amount }: NonNullable<BindingCaps['caps']['budget']>,
  { settled, held }: BudgetState,
): object {
  const left = amount - settled - held;
  return {
    window,
    amount_nano_usd: amount.toString(),
    spent_nano_usd: settled.toString(),
    held_nano_usd: held.toString(),
    remaining_nano_usd: (left > 0n ? left : 0n).toString(),
    // A budget for all time has no beginning either.
    starts_at: window === 'total' ? null : renderTime(windowStartMs),
    resets_at: renderTime(windowEndMs),
  };
}

function renderTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
