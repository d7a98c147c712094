/** Renders the sheet that edits a key. Changes apply from its next call; the secret stays. */
import { useId, useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useClockZone } from '../../lib/zone.ts';
import { changedCaps } from '../../policy/caps-draft.ts';
import { OtherLimits } from '../../policy/caps-fields.tsx';
import { changesOf, type Faults, focusFirstFault, isEmpty, readOf, restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { toast } from '../../ui/toasts.tsx';
import { KEY_READS, type Key } from './key.ts';
import { draftOf, readDraft } from './key-draft.ts';
import { KEY_MEMBERS, KeyForm } from './key-form.tsx';
import { changedTags } from './tags/key-tags.ts';

interface EditKeyProps {
  readonly account: string;
  readonly workspaces: readonly string[];
  readonly apiKey: Key;
  readonly onClose: () => void;
}

export function EditKey({ account, workspaces, apiKey, onClose }: EditKeyProps) {
  const form = useId();
  const zone = useClockZone();
  // A snapshot: others may change the key while this form is open.
  const [opened] = useState(apiKey);
  const [draft, setDraft] = useState(() => draftOf(opened, zone));
  const [faults, setFaults] = useState<Faults>({});
  const change = useAction('PATCH /accounts/{account}/keys/{key}', KEY_READS);
  const { may } = useAccount();
  const tightensOnly = !may('limits.write') && Object.values(opened.caps).some((cap) => cap !== null);
  const rest = restOf(change.error, KEY_MEMBERS);
  // A user without access to the key's workspace can keep the key there.
  const choices = workspaces.includes(apiKey.workspace) ? workspaces : [apiKey.workspace, ...workspaces];

  function submit(element: HTMLFormElement): void {
    const read = readDraft(draft, Date.now(), zone, opened.expires_at);
    setFaults('faults' in read ? read.faults : {});
    if ('faults' in read) {
      focusFirstFault(element);
      return;
    }
    const { caps, tags, ...others } = read.value;
    const changes = changedTags(opened.tags, tags);
    const changed = changesOf(opened, others);
    const body = {
      ...changed,
      ...readOf(opened, changed, ['models', 'ips', 'scopes', 'required_tags']),
      ...changedCaps(opened.caps, caps),
      ...(isEmpty(changes) ? {} : { tags: { ...changes } }),
    };
    if (isEmpty(body)) {
      onClose();
      return;
    }
    change.mutate(
      { path: { account, key: opened.id }, body },
      {
        onSuccess: ({ name }) => {
          toast({ text: `Saved ${name}. Applies from the next request.` });
          onClose();
        },
        onError: () => focusFirstFault(element),
      },
    );
  }

  return (
    <Sheet
      title={`Edit ${apiKey.name}`}
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={change.isPending}>
            Save changes
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          submit(event.currentTarget);
        }}
      >
        <KeyForm
          account={account}
          workspaces={choices}
          draft={draft}
          faults={faults}
          error={change.error}
          tightensOnly={tightensOnly}
          otherLimits={<OtherLimits layered={opened} />}
          onChange={setDraft}
        />
        {rest !== null && <ErrorNote error={rest} />}
      </form>
    </Sheet>
  );
}
