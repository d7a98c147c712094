/** Renders the sheet that sets the caps of one subject, or of a new end user or model. */
import { useId, useState } from 'react';
import type { ConsoleRoute } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAct } from '../../lib/queries.ts';
import { CAPS_MEMBERS, changedCaps, draftCaps, readCaps } from '../../policy/caps-draft.ts';
import { CapsFields } from '../../policy/caps-fields.tsx';
import { subjectWord } from '../../policy/caps-words.ts';
import { GaugeBar } from '../../policy/gauge-bar.tsx';
import { OtherLimits } from '../../policy/other-limits.tsx';
import { type Faults, faultOf, focusFirstFault, restOf } from '../../policy/read.ts';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import type { LimitNode } from './limit-tree.ts';

const READS: readonly ConsoleRoute[] = [
  'GET /accounts/{account}/limits',
  'GET /accounts/{account}/keys',
  'GET /accounts/{account}/keys/{key}',
  'GET /accounts/{account}/keys/{key}/gauges',
  'GET /accounts/{account}/workspaces',
  'GET /accounts/{account}/home',
];
const NONE = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

interface CapsSheetProps {
  readonly account: string;
  readonly kind: LimitNode['subject']['kind'];
  /** Null: a new rule, whose subject the user enters. */
  readonly node: LimitNode | null;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

export function CapsSheet({ account, kind, node, mayWrite, onClose }: CapsSheetProps) {
  const form = useId();
  const [subject, setSubject] = useState(node?.subject.id ?? '');
  // A snapshot: others may change the caps while this form is open.
  const [opened] = useState(node?.caps ?? NONE);
  const [draft, setDraft] = useState(() => draftCaps(opened));
  const [faults, setFaults] = useState<Faults>({});
  const set = useAct('PUT /accounts/{account}/limits/{kind}/{subject}', READS);
  const rest = restOf(set.error, [...CAPS_MEMBERS, 'subject']);
  const name = node?.name ?? subject;

  function submit(element: HTMLFormElement): void {
    const read = readCaps(draft);
    const named = subject.trim();
    const found = {
      ...('faults' in read ? read.faults : {}),
      ...(named === '' ? { subject: `Name the ${subjectWord(kind)} that the rule is for.` } : {}),
    };
    setFaults(found);
    if ('faults' in read || named === '') {
      focusFirstFault(element);
      return;
    }
    const { caps } = node === null ? { caps: read.value } : changedCaps(opened, read.value);
    if (caps === undefined) {
      onClose();
      return;
    }
    set.mutate(
      { path: { account, kind, subject: named }, body: { caps } },
      {
        onSuccess: () => {
          toast({ text: `The limits of ${node?.name ?? named} are set. They bind the next call.` });
          onClose();
        },
        onError: () => focusFirstFault(element),
      },
    );
  }

  return (
    <Sheet
      title={node === null ? `New rule of ${kind === 'model' ? 'a model' : 'an end user'}` : `Limits of ${name}`}
      lead={subjectLead(kind)}
      wide={false}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{mayWrite ? 'Cancel' : 'Close'}</Button>
          {mayWrite && (
            <Button kind="primary" type="submit" form={form} busy={set.isPending}>
              Save limits
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-6">
        {node !== null && node.gauges.length > 0 && (
          <section aria-label="Now" className="grid gap-4 rounded-md border border-line bg-sunken p-3">
            {node.gauges.map((gauge) => (
              <GaugeBar key={`${gauge.layer} ${gauge.sort}`} gauge={gauge} named layered={node.other_caps !== null} />
            ))}
          </section>
        )}
        {node !== null && <OtherLimits layered={node} />}
        {mayWrite ? (
          <form
            id={form}
            noValidate
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              submit(event.currentTarget);
            }}
          >
            {node === null && (
              <TextField
                label={kind === 'model' ? 'Model' : 'End user'}
                hint={
                  kind === 'model'
                    ? 'Its name as it is called.'
                    : 'As calls name him: `user` of chat completions, `metadata.user_id` of messages.'
                }
                autoComplete="off"
                spellCheck={false}
                value={subject}
                error={faultOf(faults, set.error, 'subject')}
                onChange={({ target }) => setSubject(target.value)}
              />
            )}
            <CapsFields draft={draft} faults={faults} error={set.error} onChange={setDraft} />
            {node !== null && (
              <p className="text-sm text-ink-3">
                Leave a field empty for no limit; empty all of them to take the rule away.
              </p>
            )}
            {rest !== null && <ErrorNote error={rest} />}
          </form>
        ) : (
          <p className="text-ink-2">
            You may read these limits, not set them.{' '}
            {kind === 'model' ? 'Whoever runs the installation' : 'An owner or admin of the account'} may.
          </p>
        )}
      </div>
    </Sheet>
  );
}

function subjectLead(kind: LimitNode['subject']['kind']): string {
  switch (kind) {
    case 'account':
      return 'Of everything that the account calls, all workspaces and keys together.';
    case 'workspace':
      return 'Of all keys of the workspace together.';
    case 'key':
      return 'Of this key alone.';
    case 'end_user':
      return 'Of one person behind the application, whichever key calls for him.';
    case 'model':
      return 'Of all calls of one model, whichever account they are of.';
  }
}
