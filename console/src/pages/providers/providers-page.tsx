/** Renders the providers page: a card for each provider, and the live states of all targets. */
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { useRoutingStates } from '../../routing/routing-states.ts';
import { TargetList } from '../../routing/target-list.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty, Page, SkeletonPanel } from '../../ui/page.tsx';
import { ProviderCard } from './provider-card.tsx';
import { AddProvider } from './provider-dialogs.tsx';

const HEALTH_MS = 15_000;

/** Of the provider that the address names. */
const scrollToCard = (card: HTMLElement | null) => card?.scrollIntoView({ block: 'nearest' });

export default function ProvidersPage() {
  const { account, may } = useAccount();
  const [isAdding, setAdding] = useState(false);
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/providers',
    { path: { account } },
    { everyMs: HEALTH_MS },
  );
  const states = useRoutingStates(account);
  const [{ provider: shown }] = useFilters();
  const add = may('operator.write') && data !== undefined && (
    <Button kind="primary" icon={<Plus size={14} aria-hidden="true" />} onClick={() => setAdding(true)}>
      Add provider
    </Button>
  );
  return (
    <Page
      title="Providers"
      lead="Services that serve your models. Credentials can be replaced but not viewed."
      action={add}
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <div className="grid gap-3 lg:grid-cols-2">
          <SkeletonPanel heightPx={168} />
          <SkeletonPanel heightPx={168} />
        </div>
      )}
      {data !== undefined && data.providers.length === 0 && (
        <Empty title="No providers yet" action={add}>
          Add a provider with its credential to make its models available immediately.
        </Empty>
      )}
      {data !== undefined && shown !== undefined && data.providers.every(({ name }) => name !== shown) && (
        <p className="text-ink-2">There is no provider {shown} any more.</p>
      )}
      {data !== undefined && (
        <ul className="grid gap-3 lg:grid-cols-2">
          {data.providers.map((provider) => (
            <li
              key={provider.name}
              ref={provider.name === shown ? scrollToCard : null}
              className={`min-w-0 ${provider.name === shown ? 'rounded-md ring-2 ring-accent' : ''}`}
            >
              <ProviderCard
                provider={provider}
                kinds={data.kinds}
                canWrite={may('operator.write')}
                credentials={states.data?.credentials.filter((one) => one.provider === provider.name) ?? []}
              />
            </li>
          ))}
        </ul>
      )}
      {data !== undefined && data.providers.length > 0 && <p className="text-ink-2">{data.health_rule}</p>}
      {data !== undefined && <TargetList account={account} mayWrite={may('operator.write')} />}
      {isAdding && data !== undefined && (
        <AddProvider
          kinds={data.kinds}
          taken={data.providers.map(({ name }) => name)}
          onClose={() => setAdding(false)}
        />
      )}
    </Page>
  );
}
