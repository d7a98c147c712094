/** Renders the sheet that creates a workspace or edits its policy. */
import { useId, useState } from 'react';
import type { ConsoleRoute } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAction } from '../../lib/queries.ts';
import { CAPS_MEMBERS, changedCaps } from '../../policy/caps-draft.ts';
import { CapsFields, OtherLimits } from '../../policy/caps-fields.tsx';
import { ModelsField } from '../../policy/models-field.tsx';
import { changesOf, type Faults, faultOf, focusFirstFault, isEmpty, readOf, restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { CacheFields } from './cache-fields.tsx';
import { BODIES, type Configured, draftWorkspace, readWorkspace, type Workspace } from './workspace.ts';

const READS: readonly ConsoleRoute[] = [
  'GET /accounts/{account}/workspaces',
  'GET /accounts/{account}/limits',
  'GET /accounts/{account}/keys',
  'GET /accounts/{account}/model-matches',
];

interface WorkspaceSheetProps {
  readonly account: string;
  /** Null: a new one. */
  readonly workspace: Workspace | null;
  readonly configured: Configured;
  readonly onClose: () => void;
}

export function WorkspaceSheet({ account, workspace, configured, onClose }: WorkspaceSheetProps) {
  const form = useId();
  // A snapshot: others may change the workspace while this form is open.
  const [opened] = useState(workspace);
  const [draft, setDraft] = useState(() => draftWorkspace(opened));
  const [faults, setFaults] = useState<Faults>({});
  const create = useAction('POST /accounts/{account}/workspaces', READS);
  const change = useAction('PATCH /accounts/{account}/workspaces/{workspace}', READS);
  const { error, isPending } = workspace === null ? create : change;
  const rest = restOf(error, [...CAPS_MEMBERS, 'id', 'models', 'bodies_days', 'cache', 'cache_seconds']);
  const fault = (member: string) => faultOf(faults, error, member);

  const policy = draft.bodies === 'inherit' ? configured.bodies : draft.bodies;

  function submit(element: HTMLFormElement): void {
    const read = readWorkspace(draft, configured);
    setFaults('faults' in read ? read.faults : {});
    if ('faults' in read) {
      focusFirstFault(element);
      return;
    }
    const after = {
      onSuccess: ({ id }: Workspace) => {
        toast({
          text: workspace === null ? `Created ${id}.` : `Saved ${id}. Applies from the next request.`,
        });
        onClose();
      },
      onError: () => focusFirstFault(element),
    };
    if (opened === null) {
      create.mutate({ path: { account }, body: read.value }, after);
      return;
    }
    const { id: _, caps, ...others } = read.value;
    const changed = changesOf(opened, others);
    const before = readOf(opened, changed, ['models', 'required_tags']);
    const body = { ...changed, ...before, ...changedCaps(opened.caps, caps) };
    if (isEmpty(body)) onClose();
    else change.mutate({ path: { account, workspace: opened.id }, body }, after);
  }

  function clearCache(): void {
    if (opened === null) return;
    const body = { clear_cache: true } as const;
    const onSuccess = () => toast({ text: `Cleared the cache of ${opened.id}.` });
    change.mutate({ path: { account, workspace: opened.id }, body }, { onSuccess });
  }

  return (
    <Sheet
      title={workspace === null ? 'Create workspace' : workspace.id}
      lead="Settings apply to all API keys in the workspace."
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={isPending}>
            {workspace === null ? 'Create workspace' : 'Save changes'}
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
        {workspace === null && (
          <TextField
            label="Workspace ID"
            hint="Used in logs and statements; can’t be changed."
            placeholder="research"
            autoComplete="off"
            spellCheck={false}
            value={draft.id}
            error={fault('id')}
            onChange={({ target }) => setDraft({ ...draft, id: target.value })}
          />
        )}
        <ModelsField
          account={account}
          workspace={null}
          draft={draft.models}
          fault={fault('models')}
          onChange={(models) => setDraft({ ...draft, models })}
        />
        <fieldset className="flex min-w-0 flex-col gap-2">
          <legend className="mb-2 font-semibold">Shared limits of all its API keys</legend>
          {workspace !== null && <OtherLimits layered={workspace} />}
          <CapsFields
            draft={draft.caps}
            faults={faults}
            error={error}
            onChange={(caps) => setDraft({ ...draft, caps })}
          />
        </fieldset>
        <fieldset className="flex min-w-0 flex-col gap-3">
          <legend className="mb-2 font-semibold">Prompts & responses</legend>
          <Segmented
            label="Store prompts and responses"
            value={draft.bodies}
            choices={[['inherit', 'Inherit'], ...BODIES.map(([bodies, name]) => [bodies, name] as const)]}
            onChoose={(bodies) => setDraft({ ...draft, bodies })}
          />
          <p className="text-ink-2">
            {draft.bodies === 'inherit' &&
              `Inherited: ${configured.bodies === 'errors' ? 'errors only' : configured.bodies}. `}
            {BODIES.find(([bodies]) => bodies === policy)?.[2]}
          </p>
          <TextField
            label="Retention (days)"
            inputMode="numeric"
            className="max-w-80"
            hint={`After this, prompts and responses are deleted; logs and costs are kept. Leave blank to inherit ${configured.bodies_days} days.`}
            disabled={policy === 'off'}
            value={draft.days}
            error={fault('bodies_days')}
            onChange={({ target }) => setDraft({ ...draft, days: target.value })}
          />
        </fieldset>
        <CacheFields
          draft={draft}
          fault={fault}
          onChange={(cache) => setDraft({ ...draft, ...cache })}
          clear={opened === null || opened.cache === 'off' ? null : { isPending, onClear: clearCache }}
        />
        {rest !== null && <ErrorNote error={rest} />}
      </form>
    </Sheet>
  );
}
