/** Renders the health of the providers, with the calls it is based on. */

import { share, shortNumber } from '../../lib/format.ts';
import { Link } from '../../route/link.tsx';
import { Panel } from '../../ui/page.tsx';
import { HealthBadge } from '../providers/health-badge.tsx';
import type { Overview } from './overview.ts';

type Provider = Overview['providers'][number];

export function ProviderPanel({
  providers,
  rule,
  leads,
}: {
  readonly providers: readonly Provider[];
  /** When a provider counts as failing. */
  readonly rule: string;
  readonly leads: boolean;
}) {
  return (
    <Panel className="flex flex-col gap-2 p-4">
      <div className="flex items-baseline justify-between gap-3">
        <h2 className="font-medium">Providers</h2>
        {leads && (
          <Link to="/app/providers" className="text-sm text-accent underline-offset-2 hover:underline">
            View all
          </Link>
        )}
      </div>
      {providers.length === 0 && <p className="text-ink-2">No providers configured.</p>}
      <ul className="flex flex-col">
        {providers.map(({ name, state, calls, errors }) => (
          <li key={name} className="flex min-h-8 items-center gap-3">
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="figures text-sm text-ink-3">
              {calls === 0
                ? ''
                : `${shortNumber(calls)} ${calls === 1 ? 'request' : 'requests'}, ${share(errors, calls)} failed`}
            </span>
            <HealthBadge state={state} />
          </li>
        ))}
      </ul>
      {providers.length > 0 && (
        <p className="text-sm text-ink-3">Based on this account’s requests in the last 15 minutes. {rule}</p>
      )}
    </Panel>
  );
}
