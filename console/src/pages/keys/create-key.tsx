/**
 * Renders the sheet that creates a key, from a preset or as a copy of another key. Presets have sensible limits for
 * four uses.
 */
import { useId, useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { useClockZone } from '../../lib/zone.ts';
import { type Faults, focusFirstFault, restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { KEY_READS, type Key } from './key.ts';
import { draftCopy, emptyDraft, type KeyDraft, readDraft } from './key-draft.ts';
import { KEY_MEMBERS, KeyForm } from './key-form.tsx';

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
  const zone = useClockZone();
  const [draft, setDraft] = useState<KeyDraft>(() =>
    like === null
      ? emptyDraft(defaultWorkspace(workspaces, readLastWorkspace(account)))
      : draftCopy(like, Date.now(), zone),
  );
  const [preset, setPreset] = useState<string | null>(null);
  const [faults, setFaults] = useState<Faults>({});
  const create = useAction('POST /accounts/{account}/keys', KEY_READS);
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
          storeLastWorkspace(account, key.workspace);
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
      busy={create.isPending}
      onClose={onClose}
      footer={
        <>
          <Button disabled={create.isPending} onClick={onClose}>
            Cancel
          </Button>
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
                <span className="text-sm text-ink-2">{one.description}</span>
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

/** Where this browser keeps the workspace of the last new key. */
const place = (account: string) => `tollgate.last-workspace.${account}`;

function readLastWorkspace(account: string): string | null {
  return localStorage.getItem(place(account));
}

function storeLastWorkspace(account: string, workspace: string): void {
  localStorage.setItem(place(account), workspace);
}

/**
 * The first workspace is used only when a member may use neither the last one nor `default`. Empty without a workspace.
 */
export function defaultWorkspace(workspaces: readonly string[], last: string | null): string {
  const usual = [last, 'default'].find((one) => one !== null && workspaces.includes(one));
  return usual ?? workspaces[0] ?? '';
}

interface KeyPreset {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly fills: Pick<KeyDraft, 'caps' | 'expiry' | 'scopes'>;
}

export const KEY_PRESETS: readonly KeyPreset[] = [
  {
    id: 'agent',
    name: 'Coding agent',
    description: 'For one developer’s agent and subagents: $25 per day, expires in 90 days.',
    fills: {
      caps: { rpm: '120', tpm: '2000000', concurrency: '16', budget: '25', window: 'day' },
      expiry: '90d',
      scopes: ['inference'],
    },
  },
  {
    id: 'production',
    name: 'Production',
    description: 'For a service: high rate limits, $1,000 per month, no expiry.',
    fills: {
      caps: { rpm: '3000', tpm: '', concurrency: '500', budget: '1000', window: 'month' },
      expiry: 'never',
      scopes: ['inference'],
    },
  },
  {
    id: 'ci',
    name: 'CI',
    description: 'For automated tests: $5 per day, 8 concurrent requests, expires in 90 days.',
    fills: {
      caps: { rpm: '60', tpm: '500000', concurrency: '8', budget: '5', window: 'day' },
      expiry: '90d',
      scopes: ['inference'],
    },
  },
  {
    id: 'trial',
    name: 'Trial',
    description: 'For evaluation: $5 total, 2 concurrent requests, expires in 7 days.',
    fills: {
      caps: { rpm: '20', tpm: '100000', concurrency: '2', budget: '5', window: 'total' },
      expiry: '7d',
      scopes: ['inference'],
    },
  },
];

/** Applies the preset's limits to the draft. */
export function applyPreset(draft: KeyDraft, preset: KeyPreset): KeyDraft {
  return { ...draft, ...preset.fills, expiresAt: '' };
}
