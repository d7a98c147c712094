/** Lists the credentials of a provider, and takes one out of rotation, changes, replaces or removes it. */
import { EllipsisVertical, Plus } from 'lucide-react';
import { useState } from 'react';
import { useAction, useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { CredentialBadge, CredentialStatus } from '../../routing/credential-status.tsx';
import { type RoutingStates, useRoutingStates } from '../../routing/routing-states.ts';
import { When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm, Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { SkeletonRows } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { AddCredential, EditCredential, ReplaceSecrets } from './credential-dialogs.tsx';
import { CREDENTIALS, type CredentialView, findSharedLimits, listModels, TOUCHES } from './credential-form.ts';
import type { ProvidersReply, ProviderView } from './provider-form.ts';
import { TestResult } from './test-result.tsx';

interface CredentialPoolProps {
  readonly provider: ProviderView;
  readonly kinds: ProvidersReply['kinds'];
  readonly onClose: () => void;
}

export function CredentialPool({ provider, kinds, onClose }: CredentialPoolProps) {
  const { account } = useAccount();
  const [isAdding, setAdding] = useState(false);
  const { data, error, refetch } = useReply(CREDENTIALS, { path: { account, provider: provider.name } });
  const states = useRoutingStates(account);
  const credentials = data?.credentials ?? [];
  const kind = kinds.find((one) => one.kind === provider.kind);
  const isOwn = provider.source === 'console';
  const shared = findSharedLimits(credentials);
  return (
    <Sheet
      title={`Credentials of ${provider.name}`}
      lead={
        isOwn
          ? `Encrypted and sent only to ${provider.base_url}.`
          : 'Read-only: change them where the provider is configured.'
      }
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          {isOwn && (
            <Button kind="primary" icon={<Plus size={14} aria-hidden="true" />} onClick={() => setAdding(true)}>
              Add credential
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {states.error !== null && <ErrorNote error={states.error} onRetry={() => void states.refetch()} />}
        {data === undefined && error === null && <SkeletonRows rows={2} />}
        {data !== undefined && credentials.length === 0 && <p className="text-ink-2">No credential required.</p>}
        <ul className="flex flex-col gap-2">
          {credentials.map((credential) => (
            <li key={credential.name}>
              <CredentialRow
                credential={credential}
                provider={provider}
                kind={kind}
                states={states.data}
                isOnly={credentials.length === 1}
              />
            </li>
          ))}
        </ul>
        {shared.map((names) => (
          <p key={names.join()} className="text-sm text-ink-2">
            {names.join(' and ')} belong to one organization. They share its rate limits, so together they add none.
          </p>
        ))}
      </div>
      {isAdding && (
        <AddCredential
          provider={provider.name}
          kind={kind}
          taken={credentials.map(({ name }) => name)}
          onClose={() => setAdding(false)}
        />
      )}
    </Sheet>
  );
}

type Asked = 'edit' | 'replace' | 'remove';

interface CredentialRowProps {
  readonly credential: CredentialView;
  readonly provider: ProviderView;
  readonly kind: ProvidersReply['kinds'][number] | undefined;
  readonly states: RoutingStates | undefined;
  readonly isOnly: boolean;
}

function CredentialRow({ credential, provider, kind, states, isOnly }: CredentialRowProps) {
  const { account, may } = useAccount();
  const [asked, setAsked] = useState<Asked | null>(null);
  const path = { account, provider: provider.name, credential: credential.name };
  const rotate = useAction('POST /accounts/{account}/providers/{provider}/credentials/{credential}/rotation', TOUCHES);
  const test = useAction('POST /accounts/{account}/providers/{provider}/test', TOUCHES);
  const remove = useAction('DELETE /accounts/{account}/providers/{provider}/credentials/{credential}', TOUCHES);
  const { name, last4, weight, organisation, models, out_of_rotation_since: outSince } = credential;
  const isOwn = credential.source === 'console';
  const state = states?.credentials.find((one) => one.provider === provider.name && one.name === name);
  const close = () => setAsked(null);
  return (
    <div className="rounded-md border border-line px-3 py-2">
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <p className="flex flex-wrap items-center gap-2 font-medium">
            <span className="truncate">{name}</span>
            {last4 !== null && <code className="text-ink-2">…{last4}</code>}
            {outSince !== null && <CredentialBadge state="out" />}
            {outSince === null && state !== undefined && state.state !== 'usable' && (
              <CredentialBadge state={state.state} />
            )}
            {outSince === null && weight === 0 && <Badge>Fallback only</Badge>}
          </p>
          <p className="text-sm text-ink-2">
            {[
              weight > 0 ? `Weight ${weight}` : null,
              organisation === null ? null : `Organization ${organisation}`,
              models === null ? 'All models' : listModels(models),
            ]
              .filter((part) => part !== null)
              .join(' · ')}
            {outSince !== null && (
              <>
                {' '}
                · out since <When at={outSince} />
              </>
            )}
          </p>
        </div>
        <Menu
          trigger={
            <IconButton label={`Actions for ${name}`}>
              <EllipsisVertical size={16} />
            </IconButton>
          }
        >
          <MenuItem
            onSelect={() => test.mutate({ path: { account, provider: provider.name }, body: { credential: name } })}
          >
            Test
          </MenuItem>
          {isOwn && <MenuItem onSelect={() => setAsked('edit')}>Edit…</MenuItem>}
          {isOwn && <MenuItem onSelect={() => setAsked('replace')}>Replace secret…</MenuItem>}
          <MenuItem
            disabled={isOnly && outSince === null}
            onSelect={() =>
              rotate.mutate(
                { path, body: { in_rotation: outSince !== null } },
                {
                  onSuccess: () =>
                    toast({
                      text: outSince === null ? `Removed ${name} from rotation.` : `Returned ${name} to rotation.`,
                    }),
                },
              )
            }
          >
            {outSince === null ? 'Remove from rotation' : 'Return to rotation'}
          </MenuItem>
          {isOwn && !isOnly && (
            <>
              <MenuLine />
              <MenuItem danger onSelect={() => setAsked('remove')}>
                Remove…
              </MenuItem>
            </>
          )}
        </Menu>
      </div>
      {state !== undefined && (
        <CredentialStatus
          account={account}
          state={state}
          targets={states?.targets ?? []}
          mayWrite={may('operator.write')}
        />
      )}
      <p role="status" className="text-sm text-ink-2">
        {test.isPending && 'Testing…'}
        {test.data !== undefined && <TestResult {...test.data} at={null} />}
      </p>
      {test.error !== null && <ErrorNote error={test.error} />}
      {rotate.error !== null && <ErrorNote error={rotate.error} />}
      {asked === 'edit' && <EditCredential provider={provider.name} credential={credential} onClose={close} />}
      {asked === 'replace' && (
        <ReplaceSecrets provider={provider.name} credential={credential} kind={kind} onClose={close} />
      )}
      {asked === 'remove' && (
        <Confirm
          title={`Remove ${name}?`}
          submitLabel="Remove credential"
          busy={remove.isPending}
          error={remove.error}
          onAction={() =>
            remove.mutate(
              { path },
              {
                onSuccess: () => {
                  toast({ text: `Removed ${name} of ${provider.name}.` });
                  close();
                },
              },
            )
          }
          onClose={close}
        >
          <p>
            Its secret is deleted, and its conversations move to other credentials, with a cold prompt cache. To let
            them end first, set its weight to 0 and remove it after an hour.
          </p>
        </Confirm>
      )}
    </div>
  );
}
