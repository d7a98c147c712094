/** Renders the sheet that sets the caps of one subject, or of a new end user or model. */
import { useId, useState } from 'react';
import type { ConsoleRoute } from '../../../../gateway/src/console-api/contract/contract.ts';
import { useAction } from '../../lib/queries.ts';
import { CAPS_MEMBERS, changedCaps, draftCaps, readCaps } from '../../policy/caps-draft.ts';
import { CapsFields, OtherLimits } from '../../policy/caps-fields.tsx';
import { GaugeBar } from '../../policy/gauge-bar.tsx';
import { type Faults, faultOf, focusFirstFault, isEmpty, restOf } from '../../policy/read.ts';
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
  const set = useAction('PUT /accounts/{account}/limits/{kind}/{subject}', READS);
  const rest = restOf(set.error, [...CAPS_MEMBERS, 'subject']);
  const name = node?.name ?? subject;

  function submit(element: HTMLFormElement): void {
    const read = readCaps(draft);
    const named = subject.trim();
    const found: Record<string, string> = {
      ...('faults' in read ? read.faults : {}),
      ...(named === '' ? { subject: `Enter the ${kind === 'model' ? 'model' : 'end user'}.` } : {}),
    };
    // The subject of a new rule may have one already: the caps that are not entered stay as they are.
    const { caps } = 'faults' in read ? {} : changedCaps(opened, read.value);
    if (node === null && !('faults' in read) && caps === undefined) found['caps.rpm'] = 'Enter at least one limit.';
    setFaults(found);
    if (!isEmpty(found)) {
      focusFirstFault(element);
      return;
    }
    if (caps === undefined) {
      onClose();
      return;
    }
    set.mutate(
      { path: { account, kind, subject: named }, body: { caps } },
      {
        onSuccess: () => {
          toast({ text: `Saved limits for ${node?.name ?? named}. Applies from the next request.` });
          onClose();
        },
        onError: () => focusFirstFault(element),
      },
    );
  }

  return (
    <Sheet
      title={node === null ? `Add ${kind === 'model' ? 'model' : 'end-user'} limit` : `Limits for ${name}`}
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
          <section aria-label="Current use" className="grid gap-4 rounded-md border border-line bg-sunken p-3">
            {node.gauges.map((gauge) => (
              <GaugeBar
                key={`${gauge.layer} ${gauge.sort}`}
                gauge={gauge}
                subject={node.name}
                named
                layered={node.other_caps !== null}
              />
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
                    ? 'The name that requests use.'
                    : 'The value of `user` in chat completions or `metadata.user_id` in messages.'
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
                Leave a field blank for no limit. Clear all fields to remove the limits.
              </p>
            )}
            {rest !== null && <ErrorNote error={rest} />}
          </form>
        ) : (
          <p className="text-ink-2">
            You can view these limits but not change them.{' '}
            {kind === 'model' ? 'Only gateway operators can.' : 'Only owners and admins of the account can.'}
          </p>
        )}
      </div>
    </Sheet>
  );
}

function subjectLead(kind: LimitNode['subject']['kind']): string {
  switch (kind) {
    case 'account':
      return 'Shared by all workspaces and API keys of the account.';
    case 'workspace':
      return 'Shared by all API keys of the workspace.';
    case 'key':
      return 'For this API key only.';
    case 'end_user':
      return 'For one end user of an application, across all API keys.';
    case 'model':
      return 'For all requests to this model, across all accounts.';
  }
}
