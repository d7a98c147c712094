/** Opens and reaches the hooks of rules, for alerts and guardrails, and loads the guardrails. */
import type { CallDeps } from '../call/deps.ts';
import { bindingOf } from '../config/console-providers.ts';
import type { HookOwner } from '../control/hooks.ts';
import { type Guardrails, loadGuardrails } from '../guardrails/guardrails.ts';
import type { HookParts } from '../guardrails/hook.ts';
import type { Secret } from '../lib/secret.ts';
import { OPERATOR_ACCOUNT } from '../people/roles.ts';
import type { CredentialSeal } from '../providers/credentials/credential-seal.ts';
import type { ChangeFeed } from '../store/ports/change-feed.ts';
import type { Store } from '../store/ports/store.ts';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';

interface HookedRule {
  readonly id: string;
  readonly account: string;
  readonly receiver: string;
  readonly sealed: string | null;
}

type HookReach<Rule> = { readonly [part in keyof HookParts]: (rule: Rule) => ReturnType<HookParts[part]> };

/** `deps`: has the origins that the operator trusts although they are private; called for each request. */
export function reachHooks(
  owner: HookOwner,
  seal: CredentialSeal,
  deps: () => Pick<CallDeps, 'settings'>,
): HookReach<HookedRule> {
  // The receiver of an alert confirms it by its status.
  const part = owner === 'alert rule' ? 'head' : 'whole';
  const isPrivate = (origin: string) => deps().settings.config.server.privateOrigins.includes(origin);
  const trustingFetch = createGuardedFetch(isPrivate, part);
  const publicFetch = createGuardedFetch(() => false, part);
  return {
    fetchFor: ({ account }) => (account === OPERATOR_ACCOUNT ? trustingFetch : publicFetch),
    open({ id, receiver, sealed }) {
      if (sealed === null) return null;
      const { url, signing } = seal.open(bindingOf({ provider: owner, name: id }, receiver), sealed) ?? {};
      return url === undefined || signing === undefined ? null : { url, signing };
    },
  };
}

interface GuardrailParts {
  readonly store: Pick<Store, 'guardrails'>;
  readonly changes: ChangeFeed;
  readonly masterKey: Secret;
  readonly seal: CredentialSeal;
}

/** The guardrails, which follow their changes. */
export async function openGuardrails(
  { store, changes, masterKey, seal }: GuardrailParts,
  deps: () => Pick<CallDeps, 'settings'>,
): Promise<Guardrails> {
  const guardrails = await loadGuardrails(store.guardrails, masterKey, reachHooks('guardrail rule', seal, deps));
  changes.subscribe(guardrails);
  return guardrails;
}
