/** Renders the dialogs that change several keys: what a change would stop, and the form of their settings. */
import { useId, useState } from 'react';
import { counted } from '../../../lib/format.ts';
import { useReply } from '../../../lib/queries.ts';
import { useClockZone } from '../../../lib/zone.ts';
import { CapsFields } from '../../../policy/caps-fields.tsx';
import { type Faults, faultOf, focusFirstFault, restOf } from '../../../policy/read.ts';
import { Button } from '../../../ui/button.tsx';
import { Confirm, Sheet } from '../../../ui/dialog.tsx';
import { ErrorNote } from '../../../ui/error-note.tsx';
import { CheckField, TextAreaField } from '../../../ui/field.tsx';
import { SkeletonLine } from '../../../ui/page.tsx';
import type { Key } from '../key.ts';
import { EXPIRIES, ExpiryFields, FormPart } from '../key-form.tsx';
import { type BulkDialogKind, type BulkDraft, EMPTY_BULK_DRAFT, readBulkDraft } from './bulk-changes.ts';
import { useBulk } from './use-bulk.ts';

interface BulkDialogProps {
  readonly account: string;
  readonly keys: readonly Key[];
  readonly kind: BulkDialogKind;
  readonly onClose: () => void;
  /** Afterwards no key is chosen. */
  readonly onDone: () => void;
}

export default function BulkDialog({ account, keys: given, kind, onClose, onDone }: BulkDialogProps) {
  // A snapshot: the list is refetched while the dialog is open.
  const [keys] = useState(given);
  const props = { account, keys, onClose, onDone };
  return kind === 'set' ? <EditKeys {...props} /> : <StopKeys {...props} action={kind} />;
}

type Common = Omit<BulkDialogProps, 'kind'>;

function StopKeys({ account, keys, action, onClose, onDone }: Common & { readonly action: 'disable' | 'revoke' }) {
  const bulk = useBulk(account, keys);
  const { data, error } = useReply('GET /accounts/{account}/key-requests', {
    path: { account },
    query: { keys: keys.map(({ id }) => id).join(',') },
  });
  const count = counted(keys.length, 'key');
  const verb = action === 'disable' ? 'Disable' : 'Revoke';
  return (
    <Confirm
      title={`${verb} ${count}?`}
      submitLabel={`${verb} ${count}`}
      busy={bulk.isPending}
      error={bulk.error}
      onClose={onClose}
      onAction={() => bulk.change({ action }, onDone)}
    >
      {data !== undefined ? (
        <p className="font-medium">
          {data.hour_requests === 0
            ? 'No request used these keys in the last hour.'
            : `${counted(data.hour_requests, 'request')} in the last hour used these keys.`}
        </p>
      ) : error !== null ? (
        <p className="text-amber">Couldn’t load their recent usage: {error.message}</p>
      ) : (
        <SkeletonLine width={70} />
      )}
      <p>
        {action === 'disable'
          ? 'Requests with these keys are rejected until they are enabled again. Usage and logs are kept.'
          : 'Requests with these keys are rejected with status 401 immediately. This can’t be undone. Usage and logs are kept. To block keys temporarily, disable them instead.'}
      </p>
      <p className="max-h-32 overflow-y-auto text-ink-2">{keys.map(({ name }) => name).join(', ')}</p>
    </Confirm>
  );
}

const BULK_EXPIRIES = [['keep', 'No change'], ...EXPIRIES] as const;

const BULK_MEMBERS = [
  'tags',
  'expires_at',
  'set',
  'caps.rpm',
  'caps.tpm',
  'caps.concurrency',
  'caps.budget_usd',
] as const;

function EditKeys({ account, keys, onClose, onDone }: Common) {
  const form = useId();
  const zone = useClockZone();
  const bulk = useBulk(account, keys);
  const [draft, setDraft] = useState<BulkDraft>(EMPTY_BULK_DRAFT);
  const [faults, setFaults] = useState<Faults>({});
  const rest = restOf(bulk.error, BULK_MEMBERS);
  const fault = (member: string) => faultOf(faults, bulk.error, member);

  function submit(element: HTMLFormElement): void {
    const read = readBulkDraft(draft, Date.now(), zone);
    setFaults('faults' in read ? read.faults : {});
    if ('faults' in read) focusFirstFault(element);
    else bulk.change({ action: 'set', set: read.value }, onDone);
  }

  return (
    <Sheet
      title={`Edit ${counted(keys.length, 'key')}`}
      lead={keys.map(({ name }) => name).join(', ')}
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={bulk.isPending}>
            Save {counted(keys.length, 'key')}
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        className="flex flex-col gap-6"
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        <TextAreaField
          label="Tags"
          hint="One per line: team=web sets a tag, team= removes it. Other tags stay."
          rows={3}
          spellCheck={false}
          value={draft.tags}
          error={fault('tags')}
          onChange={({ target }) => setDraft({ ...draft, tags: target.value })}
        />
        <FormPart title="Limits" hint="">
          <CheckField
            label="Replace all limits of these keys"
            checked={draft.replacesCaps}
            onChange={({ target }) => setDraft({ ...draft, replacesCaps: target.checked })}
          />
          {draft.replacesCaps && (
            <CapsFields
              draft={draft.caps}
              faults={faults}
              error={bulk.error}
              onChange={(caps) => setDraft({ ...draft, caps })}
            />
          )}
        </FormPart>
        <ExpiryFields
          choices={BULK_EXPIRIES}
          draft={draft}
          error={fault('expires_at')}
          onChange={(changes) => setDraft({ ...draft, ...changes })}
        />
        {rest !== null && <ErrorNote error={rest} />}
      </form>
    </Sheet>
  );
}
