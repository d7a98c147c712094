/** Renders the facts of one key: owner, permissions, a rotation in progress, and its current limits. */
import type { ReactNode } from 'react';
import { useReply } from '../../lib/queries.ts';
import { layeredText } from '../../policy/caps-text.ts';
import { GaugeBar } from '../../policy/gauge-bar.tsx';
import { ExactTime, When } from '../../ui/amounts.tsx';
import { CopyIcon } from '../../ui/code-block.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Panel, Section, SkeletonPanel } from '../../ui/page.tsx';
import { type Key, SCOPES } from './key.ts';
import { tagLines } from './tags/key-tags.ts';

export function KeyFacts({ apiKey }: { readonly apiKey: Key }) {
  return (
    <Panel>
      <dl className="grid sm:grid-cols-2 lg:grid-cols-3">
        <Fact name="ID">
          <span className="flex items-center gap-1">
            <code className="truncate">{apiKey.id}</code>
            <CopyIcon text={apiKey.id} what="key ID" />
          </span>
        </Fact>
        <Fact name="Owner">{apiKey.owner?.name ?? 'Created on the command line'}</Fact>
        <Fact name="Workspace">{apiKey.workspace}</Fact>
        <Fact name="Models">
          {apiKey.models === null ? 'All models of the workspace' : <code>{apiKey.models.join(', ')}</code>}
        </Fact>
        <Fact name="Limits">{layeredText(apiKey) || 'None'}</Fact>
        <Fact name="Allowed IP addresses">{apiKey.ips === null ? 'All' : <code>{apiKey.ips.join(', ')}</code>}</Fact>
        <Fact name="Permissions">
          {SCOPES.filter(([scope]) => apiKey.scopes.includes(scope))
            .map(([, name]) => name)
            .join(', ')}
          {apiKey.strict ? '; strict translation' : ''}
        </Fact>
        <Fact name="Tags">{tagLines(apiKey.tags).join(', ') || 'None'}</Fact>
        <Fact name="Last used">
          <When at={apiKey.last_used?.at ?? null} />
          {apiKey.last_used?.client ? ` by ${apiKey.last_used.client}` : ''}
        </Fact>
        <Fact name="Expires">{apiKey.expires_at === null ? 'Never' : <ExactTime at={apiKey.expires_at} />}</Fact>
      </dl>
    </Panel>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="min-w-0 px-4 py-2.5">
      <dt className="text-sm text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

/** Says that the key is disabled, and names the person who disabled it. `lock`: why the user may not enable it; null: nothing is shown. */
export function DisabledNote({ apiKey, lock }: { readonly apiKey: Key; readonly lock: string | null }) {
  const { status, disabled_by: by } = apiKey;
  if (status !== 'disabled' || (by === null && lock === null)) return null;
  return (
    <p className="rounded-lg border border-line bg-panel px-4 py-2.5">
      {lock ?? `Disabled by ${by?.name}.`} <span className="text-ink-2">Its requests are rejected.</span>
    </p>
  );
}

/** Says why the key does not work although no one disabled it. */
export function OwnerlessNote({ apiKey: { status, owner } }: { readonly apiKey: Key }) {
  if (status !== 'ownerless') return null;
  return (
    <p className="rounded-lg border border-line bg-panel px-4 py-2.5">
      {owner?.name ?? 'Its owner'} can no longer create keys in this workspace.{' '}
      <span className="text-ink-2">Its requests are rejected. Create another key.</span>
    </p>
  );
}

/** Shows both secrets of a key during the grace period of a rotation, and whether the old one is still used. */
export function RotationNote({ apiKey }: { readonly apiKey: Key }) {
  const { rotation } = apiKey;
  if (rotation === null) return null;
  return (
    <section aria-label="Rotation" className="rounded-lg border border-line bg-panel">
      <p className="border-b border-line px-4 py-2.5">
        <span className="font-medium">Both secrets work.</span>{' '}
        <span className="text-ink-2">
          The old one expires <When at={rotation.ends_at} />
          {rotation.old_used_at === null
            ? '. It hasn’t been used since the rotation.'
            : '. Update the clients that still use it before then.'}
        </span>
      </p>
      <dl className="grid sm:grid-cols-2">
        <Fact name="New">
          <code>tg_…{apiKey.last4}</code>, last used <When at={rotation.new_used_at} />
        </Fact>
        <Fact name="Old">
          <code>{rotation.old_last4 === null ? 'Unknown' : `tg_…${rotation.old_last4}`}</code>, last used{' '}
          <When at={rotation.old_used_at} />
        </Fact>
      </dl>
    </section>
  );
}

/** While the window is visible. */
const LIVE_MS = 5_000;

export function KeyGauges({ account, apiKey }: { readonly account: string; readonly apiKey: string }) {
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/keys/{key}/gauges',
    { path: { account, key: apiKey } },
    { everyMs: LIVE_MS },
  );
  return (
    <Section title="Current limits" aside={<span className="text-sm text-ink-3">Live</span>}>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonPanel heightPx={96} />}
      {data !== undefined && (
        <Panel className="flex flex-col gap-4 p-4">
          {data.gauges.map((gauge) => (
            <GaugeBar
              key={`${gauge.layer} ${gauge.subject.kind} ${gauge.subject.id} ${gauge.sort}`}
              layered={data.gauges.some(({ layer }) => layer === 'account')}
              gauge={gauge}
              named
              ownKey={apiKey}
            />
          ))}
          {data.gauges.length === 0 && (
            <p className="text-ink-2">No limits are set for this key, its workspace or its account.</p>
          )}
        </Panel>
      )}
    </Section>
  );
}
