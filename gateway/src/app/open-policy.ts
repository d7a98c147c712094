/** Assembles the dependencies of the console's routes for keys, limits, workspaces, money and the audit trail. */
import manifest from '../../package.json' with { type: 'json' };
import type { PolicyParts } from '../console-api/policy/policy-parts.ts';
import { createPersonNames } from '../people/members/members.ts';
import type { Store } from '../store/ports/store.ts';

export interface PolicySources extends Pick<PolicyParts, 'control' | 'deps'> {
  readonly store: Pick<Store, 'policies' | 'ledger' | 'audit' | 'spends' | 'usage' | 'statements' | 'people'>;
  /** Unix ms. */
  nowMs(): number;
}

export function openPolicy({ store, control, deps, nowMs }: PolicySources): PolicyParts {
  const { policies, ledger, audit, usage, statements, people } = store;
  return {
    control,
    deps,
    policies,
    ledger,
    audit,
    readSpends: (bindings) =>
      store.spends.readSpends(bindings, (model) => deps.settings.routes.get(model)?.names ?? [model]),
    usage,
    statements,
    personNames: createPersonNames(people),
    readFacts: () => describeInstallation(deps),
    nowMs,
  };
}

function describeInstallation({ settings }: PolicyParts['deps']): ReturnType<PolicyParts['readFacts']> {
  const { file, dataDir, providersFrom } = settings.config;
  return [
    { name: 'Version', text: manifest.version },
    { name: 'Configuration', text: file ?? `no file; providers: ${providersFrom}` },
    { name: 'Data folder', text: dataDir },
  ];
}
