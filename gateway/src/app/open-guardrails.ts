/** Loads the guardrail rules, and joins them to what opens and reaches their hooks. */
import type { CallDeps } from '../call/deps.ts';
import { bindingOf } from '../config/console-providers.ts';
import { GUARDRAIL_BINDING } from '../control/guardrails/guardrail-commands.ts';
import { type Guardrails, loadGuardrails } from '../guardrails/guardrails.ts';
import type { Secret } from '../lib/secret.ts';
import { OPERATOR_ACCOUNT } from '../people/roles.ts';
import type { CredentialSeal } from '../providers/credentials/credential-seal.ts';
import type { ChangeFeed } from '../store/ports/change-feed.ts';
import type { Store } from '../store/ports/store.ts';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';

interface GuardrailParts {
  readonly store: Pick<Store, 'guardrails'>;
  readonly changes: ChangeFeed;
  readonly masterKey: Secret;
  readonly seal: CredentialSeal;
}

/** `deps`: has the origins that the operator trusts although they are private; called for each request to a hook. */
export async function openGuardrails(
  { store, changes, masterKey, seal }: GuardrailParts,
  deps: () => Pick<CallDeps, 'settings'>,
): Promise<Guardrails> {
  const trustingFetch = createGuardedFetch((origin) => deps().settings.config.server.privateOrigins.includes(origin));
  const publicFetch = createGuardedFetch(() => false);
  const guardrails = await loadGuardrails(store.guardrails, masterKey, {
    fetchFor: ({ account }) => (account === OPERATOR_ACCOUNT ? trustingFetch : publicFetch),
    open({ id, receiver, sealed }) {
      if (sealed === null) return null;
      const { url, signing } = seal.open(bindingOf({ provider: GUARDRAIL_BINDING, name: id }, receiver), sealed) ?? {};
      return url === undefined || signing === undefined ? null : { url, signing };
    },
  });
  changes.subscribe(guardrails);
  return guardrails;
}
