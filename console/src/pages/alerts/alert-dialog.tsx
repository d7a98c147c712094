/** Creates and edits an alert: its event, where it is sent, and when it is not. */
import { useState } from 'react';
import { useAction } from '../../lib/queries.ts';
import { faultOf, isEmpty } from '../../policy/read.ts';
import { Fold, Segmented, SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import {
  type AlertDraft,
  type AlertsReply,
  bodyOf,
  CHANNELS,
  changesTo,
  type DraftFaults,
  draftOf,
  EVENTS,
  faultsOf,
  isHook,
  newDraft,
  type Rule,
  ruleText,
} from './alerts.ts';
import { SigningSecret } from './signing-secret.tsx';

interface AlertDialogProps {
  readonly account: string;
  /** Null: a new one. */
  readonly rule: Rule | null;
  readonly events: readonly Rule['event'][];
  readonly emailTo: AlertsReply['email_to'];
  readonly onClose: () => void;
}

const TOUCHES = ['GET /accounts/{account}/alerts', 'GET /accounts/{account}/alerts/{alert}/deliveries'] as const;

export function AlertDialog({ account, rule: current, events, emailTo, onClose }: AlertDialogProps) {
  // A snapshot: others may change the rule while this form is open.
  const [rule] = useState(current);
  const [draft, setDraft] = useState<AlertDraft>(rule === null ? newDraft(events[0] ?? 'budget') : draftOf(rule));
  const [faults, setFaults] = useState<DraftFaults>({});
  const create = useAction('POST /accounts/{account}/alerts', TOUCHES);
  const change = useAction('PATCH /accounts/{account}/alerts/{alert}', TOUCHES);
  const action = rule === null ? create : change;
  const set = (changes: Partial<AlertDraft>) => setDraft((known) => ({ ...known, ...changes }));
  const { threshold, hint } = EVENTS[draft.event];
  const errorOf = (member: keyof DraftFaults) => faultOf(faults, action.error, member);

  function submit(): void {
    const found = faultsOf(draft, rule);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const onSuccess = ({ signing_secret }: { readonly signing_secret: string | null }) => {
      if (signing_secret === null) onClose();
    };
    if (rule === null) {
      const { channel } = draft;
      create.mutate(
        { path: { account }, body: { ...bodyOf(draft, null), event: draft.event, channel } },
        { onSuccess },
      );
      return;
    }
    const body = changesTo(rule, draft);
    if (isEmpty(body)) onClose();
    else change.mutate({ path: { account, alert: rule.id }, body }, { onSuccess });
  }

  const secret = action.data?.signing_secret ?? null;
  if (secret !== null) return <SigningSecret secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={rule === null ? 'Create alert' : `Edit ${rule.name}`}
      label="Alert"
      submitLabel={rule === null ? 'Create alert' : 'Save'}
      busy={action.isPending}
      error={action.error}
      members={['name', 'threshold', 'url', 'to', 'channel', 'quiet', 'renotify_hours']}
      onSubmit={submit}
      onClose={onClose}
    >
      {rule === null && (
        <SelectField
          label="Event"
          hint={hint}
          value={draft.event}
          onChange={({ target }) => {
            const event = events.find((one) => one === target.value);
            if (event !== undefined) set({ event, threshold: newDraft(event).threshold });
          }}
        >
          {events.map((event) => (
            <option key={event} value={event}>
              {EVENTS[event].name}
            </option>
          ))}
        </SelectField>
      )}
      {threshold !== null && (
        <TextField
          label={threshold.label}
          inputMode="decimal"
          value={draft.threshold}
          onChange={({ target }) => set({ threshold: target.value })}
          error={errorOf('threshold')}
        />
      )}
      <div className="flex flex-col gap-1">
        <span aria-hidden="true" className="font-medium">
          Send to
        </span>
        <Segmented label="Send to" value={draft.channel} choices={CHANNELS} onChoose={(channel) => set({ channel })} />
        <p className="text-sm text-ink-3">Every alert is also on this page.</p>
      </div>
      {draft.channel === 'email' && emailTo === 'none' && (
        <p className={errorOf('to') === null ? 'text-ink-2' : 'text-red'}>
          Email needs a mail server: set <code>server.smtp</code> in the configuration file of the gateway.
        </p>
      )}
      {draft.channel === 'email' && emailTo !== 'none' && (
        <TextField
          label="Recipients"
          inputMode="email"
          autoComplete="off"
          placeholder="ada@example.com"
          hint={
            emailTo === 'members'
              ? 'Addresses of members of this account, separated by commas; at most 10.'
              : 'Addresses, separated by commas; at most 10.'
          }
          value={draft.to}
          onChange={({ target }) => set({ to: target.value })}
          error={errorOf('to') ?? faultOf({}, action.error, 'channel')}
        />
      )}
      {isHook(draft.channel) && (
        <TextField
          label={draft.channel === 'slack' ? 'Address of the incoming webhook' : 'Address'}
          type="url"
          placeholder="https://"
          autoComplete="off"
          hint={
            rule !== null && rule.channel === draft.channel
              ? `Leave blank to keep the address at ${rule.receiver}.`
              : 'Public https address. It is stored encrypted.'
          }
          value={draft.url}
          onChange={({ target }) => set({ url: target.value })}
          error={errorOf('url')}
        />
      )}
      <Fold
        title="Name, quiet hours, repetition"
        opens={rule !== null}
        mustShow={errorOf('quiet') !== null || errorOf('renotify_hours') !== null}
      >
        <div className="flex flex-col gap-4">
          <TextField
            label="Name"
            maxLength={100}
            placeholder={ruleText({ event: draft.event, threshold: bodyOf(draft, rule).threshold ?? '0' })}
            hint="Leave blank for the default."
            value={draft.name}
            onChange={({ target }) => set({ name: target.value })}
            error={faultOf({}, action.error, 'name')}
          />
          <div className="grid grid-cols-2 gap-3">
            <TextField
              label="Quiet from"
              type="time"
              value={draft.quietFrom}
              onChange={({ target }) => set({ quietFrom: target.value })}
              error={errorOf('quiet')}
            />
            <TextField
              label="Quiet until"
              type="time"
              value={draft.quietTo}
              onChange={({ target }) => set({ quietTo: target.value })}
            />
          </div>
          <TextField
            label="Repeat after (hours)"
            inputMode="numeric"
            hint="While it lasts. Leave blank for the default."
            value={draft.renotify}
            onChange={({ target }) => set({ renotify: target.value })}
            error={errorOf('renotify_hours')}
          />
        </div>
      </Fold>
    </FormDialog>
  );
}
