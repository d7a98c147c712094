/** Shows the services that sign the user in, and links and unlinks them. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { ApiError, ask } from '../../lib/api.ts';
import { useAction } from '../../lib/queries.ts';
import { useSearch } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { linkRefusal } from '../sign-in/oidc-refusal.ts';

type Service = Reply<'GET /me'>['services'][number];

interface ServicePanelProps {
  readonly services: readonly Service[];
  readonly hasPassword: boolean;
}

export function ServicePanel({ services, hasPassword }: ServicePanelProps) {
  const refusal = linkRefusal(useSearch().error);
  const [linked, setLinked] = useState<Service | null>(null);
  const [unlinked, setUnlinked] = useState<Service | null>(null);
  if (services.length === 0) return null;
  return (
    <Section title="Sign-in services">
      <Panel>
        {refusal !== null && (
          <div className="p-4">
            <ErrorNote error={new Error(refusal)} />
          </div>
        )}
        <ul className="divide-y divide-line">
          {services.map((service) => (
            <li key={service.id} className="flex min-h-10 flex-wrap items-center gap-x-3 px-4 py-1.5">
              <span className="min-w-40 flex-1 truncate font-medium">{service.name}</span>
              <span className="text-ink-2">{service.linked ? 'Linked' : 'Not linked'}</span>
              <Button
                kind="quiet"
                aria-label={`${service.linked ? 'Unlink' : 'Link'} ${service.name}`}
                onClick={() => (service.linked ? setUnlinked(service) : setLinked(service))}
              >
                {service.linked ? 'Unlink' : 'Link…'}
              </Button>
            </li>
          ))}
        </ul>
      </Panel>
      {linked !== null && <LinkService service={linked} hasPassword={hasPassword} onClose={() => setLinked(null)} />}
      {unlinked !== null && <UnlinkService service={unlinked} onClose={() => setUnlinked(null)} />}
    </Section>
  );
}

interface DialogProps {
  readonly service: Service;
  readonly onClose: () => void;
}

function LinkService({ service, hasPassword, onClose }: DialogProps & { readonly hasPassword: boolean }) {
  const [password, setPassword] = useState('');
  const link = useMutation<void, ApiError>({
    mutationFn: async () => {
      const body = { provider: service.id, password: hasPassword ? password : null };
      const { url } = await ask('POST /me/services', { body });
      location.assign(url);
    },
  });
  return (
    <FormDialog
      title={`Link ${service.name}`}
      lead={`Sign in to ${service.name} with the same email address. Your other sign-in methods aren’t affected.`}
      label={`Link ${service.name}`}
      submitLabel={`Continue with ${service.name}`}
      busy={link.isPending}
      error={link.error instanceof ApiError ? link.error : null}
      members={['password']}
      onSubmit={() => link.mutate()}
      onClose={onClose}
    >
      {hasPassword && (
        <PasswordField
          label="Password"
          autoComplete="current-password"
          value={password}
          onValue={setPassword}
          error={memberError(link.error, 'password')}
        />
      )}
    </FormDialog>
  );
}

function UnlinkService({ service, onClose }: DialogProps) {
  const unlink = useAction('DELETE /me/services/{service}', ['GET /me']);
  const onSuccess = () => {
    toast({ text: `Unlinked ${service.name}.` });
    onClose();
  };
  return (
    <Confirm
      title={`Unlink ${service.name}?`}
      submitLabel="Unlink"
      busy={unlink.isPending}
      error={unlink.error}
      onAction={() => unlink.mutate({ path: { service: service.id } }, { onSuccess })}
      onClose={onClose}
    >
      <p>You can no longer sign in with {service.name}. Current sessions stay open.</p>
    </Confirm>
  );
}
