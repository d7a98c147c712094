/** Renders the sheet that creates a key, from a preset or as a copy of another key. */
import { useId, useState } from 'react';
import { useAct } from '../../lib/queries.ts';
import { useZone } from '../../lib/zone.ts';
import { type Faults, focusFirstFault, restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { KEY_READS, type Key } from './key.ts';
import { draftCopy, emptyDraft, type KeyDraft, readDraft } from './key-draft.ts';
import { KEY_MEMBERS, KeyForm } from './key-form.tsx';
import { applyPreset, KEY_PRESETS } from './key-presets.ts';
import { keepLastWorkspace, readLastWorkspace, usualWorkspace } from './last-workspace.ts';

interface CreateKeyProps {
  readonly account: string;
  readonly workspaces: readonly string[];
  /** The key to copy; null: start from a preset. */
  readonly like: Key | null;
  readonly onCreated: (key: Key, secret: string) => void;
  readonly onClose: () => void;
}

export function CreateKey({ account, workspaces, like, onCreated, onClose }: CreateKeyProps) {
  const form = useId();
  const zone = useZone();
  const [draft, setDraft] = useState<KeyDraft>(() =>
    like === null
      ? emptyDraft(usualWorkspace(workspaces, readLastWorkspace(account)))
      : draftCopy(like, Date.now(), zone),
  );
  const [preset, setPreset] = useState<string | null>(null);
  const [faults, setFaults] = useState<Faults>({});
  const create = useAct('POST /accounts/{account}/keys', KEY_READS);
  const rest = restOf(create.error, KEY_MEMBERS);

  function submit(element: HTMLFormElement): void {
    const read = readDraft(draft, Date.now(), zone);
    setFaults('faults' in read ? read.faults : {});
    if ('faults' in read) {
      focusFirstFault(element);
      return;
    }
    create.mutate(
      { path: { account }, body: read.value },
      {
        onSuccess: ({ key, secret }) => {
          keepLastWorkspace(account, key.workspace);
          onCreated(key, secret);
        },
        onError: () => focusFirstFault(element),
      },
    );
  }

  return (
    <Sheet
      title={like === null ? 'Create API key' : `Duplicate ${like.name}`}
      lead={like === null ? undefined : 'Creates a new key with the same settings and its own secret.'}
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={create.isPending}>
            Create key
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
        {like === null && (
          <fieldset className="grid gap-2 xs:grid-cols-2">
            <legend className="mb-2 font-medium">Preset</legend>
            {KEY_PRESETS.map((one) => (
              <button
                key={one.id}
                type="button"
                aria-pressed={preset === one.id}
                onClick={() => {
                  setPreset(one.id);
                  setDraft(applyPreset(draft, one));
                }}
                className={classNames(
                  'flex flex-col items-start gap-0.5 rounded-md border px-3 py-2 text-left transition-colors duration-120',
                  preset === one.id
                    ? 'border-accent bg-accent-soft'
                    : 'border-line-strong hover:border-control-line hover:bg-hover',
                )}
              >
                <span className="font-medium">{one.name}</span>
                <span className="text-sm text-ink-2">{one.means}</span>
              </button>
            ))}
          </fieldset>
        )}
        <KeyForm
          account={account}
          workspaces={workspaces}
          draft={draft}
          faults={faults}
          error={create.error}
          onChange={setDraft}
        />
        {rest !== null && <ErrorNote error={rest} />}
      </form>
    </Sheet>
  );
}
