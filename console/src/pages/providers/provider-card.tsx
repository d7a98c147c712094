/** Renders a provider: its health, its credentials as far as they may be shown, a test, and what can be changed. */
import { EllipsisVertical } from 'lucide-react';
import { useState } from 'react';
import { counted, duration, share, wholeNumber } from '../../lib/format.ts';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useClockZone } from '../../lib/zone.ts';
import { CredentialBadge } from '../../routing/credential-status.tsx';
import { type CredentialState, explainCredential } from '../../routing/routing-states.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { Panel } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { CredentialPool } from './credential-pool.tsx';
import { EditProvider } from './edit-provider.tsx';
import { HealthBadge } from './health-badge.tsx';
import { OfferedModels } from './offered-models.tsx';
import { type ProvidersReply, type ProviderView, TOUCHES } from './provider-form.ts';
import { ReplaceModels } from './provider-models.tsx';
import { TestResult } from './test-result.tsx';

const SOURCES = {
  file: 'Configuration file',
  environment: 'Environment',
  demo: 'Built in',
  console: 'Console',
} as const;

type Asked = 'settings' | 'credentials' | 'offered' | 'models' | 'remove';

interface ProviderCardProps {
  readonly provider: ProviderView;
  readonly kinds: ProvidersReply['kinds'];
  readonly canWrite: boolean;
  readonly credentials: readonly CredentialState[];
}

export function ProviderCard({ provider, kinds, canWrite, credentials }: ProviderCardProps) {
  const { account } = useAccount();
  const [entered, setEntered] = useState<Asked | null>(null);
  const test = useAction('POST /accounts/{account}/providers/{provider}/test', [TOUCHES[0]]);
  const remove = useAction('DELETE /accounts/{account}/providers/{provider}', TOUCHES);
  const path = { account, provider: provider.name };
  const { health, tested } = provider;
  const isOwn = provider.source === 'console';
  const settings = settingFacts(provider, kinds);
  const close = () => setEntered(null);
  return (
    <Panel className="flex h-full flex-col">
      <header className="flex items-start gap-2 px-4 pt-3">
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 text-read font-semibold">
            <span className="truncate">{provider.name}</span>
            <HealthBadge state={health.state} />
            {!isOwn && <Badge>{SOURCES[provider.source]}, read-only</Badge>}
          </h2>
          <p className="truncate text-ink-2" title={provider.base_url}>
            {provider.base_url}
          </p>
          {settings.length > 0 && (
            <p className="text-sm text-ink-2">
              <Facts facts={settings} />
            </p>
          )}
        </div>
        {canWrite && provider.source !== 'demo' && (
          <Menu
            trigger={
              <IconButton label={`Actions for ${provider.name}`}>
                <EllipsisVertical size={16} />
              </IconButton>
            }
          >
            {isOwn && <MenuItem onSelect={() => setEntered('settings')}>Edit…</MenuItem>}
            <MenuItem onSelect={() => setEntered('credentials')}>Credentials…</MenuItem>
            <MenuItem
              onSelect={() => {
                test.mutate({ path, body: {} });
                setEntered('offered');
              }}
            >
              Models…
            </MenuItem>
            {isOwn && (
              <>
                <MenuItem onSelect={() => setEntered('models')}>Replace models…</MenuItem>
                <MenuLine />
                <MenuItem danger onSelect={() => setEntered('remove')}>
                  Remove provider…
                </MenuItem>
              </>
            )}
          </Menu>
        )}
      </header>
      <dl className="figures grid flex-1 grid-cols-2 gap-x-6 gap-y-2 px-4 py-3 sm:grid-cols-4">
        <Fact name="Requests (15 min)" value={wholeNumber(health.calls)} />
        <Fact
          name="Errors"
          value={health.errors === 0 ? '0' : `${wholeNumber(health.errors)} (${share(health.errors, health.calls)})`}
          isBad={health.state === 'failing'}
        />
        <Fact name="First byte (p50)" value={health.ttfb_p50_ms === null ? '–' : duration(health.ttfb_p50_ms)} />
        <Fact name="Models" value={wholeNumber(provider.models)} />
      </dl>
      <PausedCredentials credentials={credentials} onShow={canWrite ? () => setEntered('credentials') : null} />
      <footer className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line px-4 py-2.5">
        <div className="min-w-0 flex-1 basis-52">
          <p>{describeCredential(provider, credentials)}</p>
          <p className="text-sm text-ink-2">{tested === null ? 'Never tested' : <TestResult {...tested} />}</p>
        </div>
        {canWrite && (
          <Button
            busy={test.isPending}
            aria-label={`Test ${provider.name}`}
            onClick={() =>
              test.mutate(
                { path, body: {} },
                {
                  onSuccess: ({ ok, message }) =>
                    toast({ text: `${provider.name}: ${message}`, tone: ok ? 'good' : 'bad' }),
                },
              )
            }
          >
            {test.isPending ? 'Testing…' : 'Test'}
          </Button>
        )}
        {test.error !== null && (
          <div className="basis-full">
            <ErrorNote error={test.error} />
          </div>
        )}
      </footer>
      {entered === 'settings' && (
        <EditProvider
          provider={provider}
          kind={kinds.find((one) => one.kind === provider.kind)}
          credentials={credentials.length}
          onClose={close}
        />
      )}
      {entered === 'credentials' && <CredentialPool provider={provider} kinds={kinds} onClose={close} />}
      {entered === 'offered' && <OfferedModels provider={provider.name} list={test} onClose={close} />}
      {entered === 'models' && <ReplaceModels provider={provider} onClose={close} />}
      {entered === 'remove' && (
        <Confirm
          title={`Remove ${provider.name}?`}
          submitLabel="Remove provider"
          busy={remove.isPending}
          error={remove.error}
          onAction={() =>
            remove.mutate(
              { path },
              {
                onSuccess: () => {
                  toast({ text: `Removed ${provider.name}.` });
                  close();
                },
              },
            )
          }
          onClose={close}
        >
          <p>
            {provider.models === 1 ? 'Its model becomes' : `Its ${wholeNumber(provider.models)} models become`}{' '}
            unavailable
            {health.calls > 0 && `; it served ${counted(health.calls, 'request')} in the last 15 minutes`}. Its
            credential is deleted. Logs and charges are kept.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}

/** The provider's settings with their titles: `Region eu-central-1`. */
function settingFacts({ kind, settings }: ProviderView, kinds: ProvidersReply['kinds']): readonly string[] {
  const members = kinds.find((one) => one.kind === kind)?.settings ?? [];
  return Object.entries(settings).map(
    ([name, value]) => `${members.find((one) => one.name === name)?.title ?? name} ${value}`,
  );
}

interface PausedCredentialsProps {
  readonly credentials: readonly CredentialState[];
  /** Opens the pool, where a pause can be ended or a secret replaced; null: not for this user. */
  readonly onShow: (() => void) | null;
}

/** The credentials that no request uses now, or not for all models. */
function PausedCredentials({ credentials, onShow }: PausedCredentialsProps) {
  const zone = useClockZone();
  const paused = credentials.filter(({ state }) => state === 'cooling' || state === 'benched');
  if (paused.length === 0) return null;
  return (
    <ul className="flex flex-col gap-2 border-t border-line px-4 py-2.5">
      {paused.map((credential) => (
        <li key={credential.name} className="flex flex-wrap items-center gap-2">
          <div className="min-w-0 flex-1 basis-52">
            <p className="flex flex-wrap items-center gap-2">
              <span className="truncate font-medium">Credential {credential.name}</span>
              <CredentialBadge state={credential.state} />
            </p>
            <p className="text-sm text-ink-2">{explainCredential(credential, zone)}</p>
          </div>
          {onShow !== null && (
            <Button aria-label={`Show credential ${credential.name}`} onClick={onShow}>
              Show credential
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

function describeCredential({ last4, credential_source }: ProviderView, credentials: readonly CredentialState[]) {
  if (credentials.length > 1) return credentialCount(credentials);
  if (credential_source !== null) return `Credential: ${credential_source}`;
  if (last4 === null) return 'No credential required';
  return (
    <>
      Credential …<code>{last4}</code>
    </>
  );
}

function credentialCount(credentials: readonly CredentialState[]): string {
  const usable = credentials.filter(({ state }) => state === 'usable').length;
  const all = counted(credentials.length, 'credential');
  return usable === credentials.length ? all : `${all}, ${usable} usable`;
}

function Fact({
  name,
  value,
  isBad = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly isBad?: boolean;
}) {
  return (
    <div>
      <dt className="text-sm text-ink-2">{name}</dt>
      <dd className={isBad ? 'font-medium text-red' : 'font-medium'}>{value}</dd>
    </div>
  );
}
