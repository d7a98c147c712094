/** Creates and edits a guardrail: what it checks, what happens to what it finds, and where it applies. */
import { type ReactNode, useState } from 'react';
import { useAction, useReply } from '../../lib/queries.ts';
import type { CurrentAccount } from '../../lib/session.ts';
import { type Faults, faultOf, isEmpty } from '../../policy/read.ts';
import { CheckField, Fold, Segmented, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { SigningSecret } from '../alerts/signing-secret.tsx';
import {
  ACTIONS,
  bodyOf,
  CHECKS,
  type Check,
  changesTo,
  type Detector,
  defaultName,
  draftOf,
  faultsOf,
  type GuardrailDraft,
  newDraft,
  type Rule,
  SIDES,
  TERMS_MAX,
} from './guardrails.ts';

interface GuardrailDialogProps {
  readonly account: CurrentAccount;
  /** Null: a new one. */
  readonly rule: Rule | null;
  readonly detectors: readonly Detector[];
  readonly onClose: () => void;
}

const TOUCHES = ['GET /accounts/{account}/guardrails'] as const;
const ALL_CHECKS = Object.keys(CHECKS) as readonly Check[];
const FAILURES = [
  ['closed', 'Block'],
  ['open', 'Let pass'],
] as const;

export function GuardrailDialog({ account, rule: current, detectors, onClose }: GuardrailDialogProps) {
  // A snapshot: others may change the rule while this form is open.
  const [rule] = useState(current);
  // Members of some workspaces have no rules for the whole account.
  const own = account.workspaces?.[0] ?? '';
  const [draft, setDraft] = useState(rule === null ? newDraft('secrets', detectors, own) : draftOf(rule, detectors));
  const [faults, setFaults] = useState<Faults>({});
  const create = useAction('POST /accounts/{account}/guardrails', TOUCHES);
  const change = useAction('PATCH /accounts/{account}/guardrails/{guardrail}', TOUCHES);
  const action = rule === null ? create : change;
  const set = (changes: Partial<GuardrailDraft>) => setDraft((known) => ({ ...known, ...changes }));
  const errorOf = (member: string) => faultOf(faults, action.error, member);
  const maySetHooks = account.may('guardrails.hooks') || account.may('operator.write');
  const { check } = draft;

  function submit(): void {
    const found = faultsOf(draft, rule);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const onSuccess = ({ signing_secret }: { readonly signing_secret: string | null }) => {
      if (signing_secret === null) onClose();
    };
    const path = { account: account.account };
    if (rule === null) {
      create.mutate({ path, body: { ...bodyOf(draft, detectors), check } }, { onSuccess });
      return;
    }
    const body = changesTo(rule, draft, detectors);
    if (isEmpty(body)) onClose();
    else change.mutate({ path: { ...path, guardrail: rule.id }, body }, { onSuccess });
  }

  const secret = action.data?.signing_secret ?? null;
  if (secret !== null) return <SigningSecret secret={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={rule === null ? 'Create guardrail' : `Edit ${rule.name}`}
      label="Guardrail"
      submitLabel={rule === null ? 'Create guardrail' : 'Save'}
      busy={action.isPending}
      error={action.error}
      members={['name', 'items', 'url', 'timeout_ms', 'workspace']}
      onSubmit={submit}
      onClose={onClose}
    >
      {rule === null && (
        <SelectField
          label="Check"
          hint={CHECKS[check].hint}
          value={check}
          onChange={({ target }) => {
            const chosen = ALL_CHECKS.find((one) => one === target.value);
            if (chosen !== undefined) setDraft({ ...newDraft(chosen, detectors, draft.workspace), name: draft.name });
          }}
        >
          {ALL_CHECKS.filter((one) => one !== 'hook' || maySetHooks).map((one) => (
            <option key={one} value={one}>
              {CHECKS[one].name}
            </option>
          ))}
        </SelectField>
      )}
      {(check === 'secrets' || check === 'personal_data') && (
        <DetectorFields
          detectors={detectors.filter((one) => one.check === check)}
          chosen={draft.detectors}
          error={errorOf('items')}
          onChosen={(names) => set({ detectors: names })}
        />
      )}
      {check === 'terms' && (
        <TextAreaField
          label="Terms"
          rows={5}
          spellCheck={false}
          placeholder={'Project Falcon\nunreleased'}
          hint={`One word or phrase per line, at most ${TERMS_MAX}.`}
          value={draft.terms}
          onChange={({ target }) => set({ terms: target.value })}
          error={errorOf('items')}
        />
      )}
      {check === 'hook' && (
        <>
          {maySetHooks && (
            <TextField
              label="Address"
              type="url"
              placeholder="https://"
              autoComplete="off"
              hint={
                rule === null
                  ? 'Public https address. It is stored encrypted.'
                  : `Leave blank to keep the address at ${rule.receiver}.`
              }
              value={draft.url}
              onChange={({ target }) => set({ url: target.value })}
              error={errorOf('url')}
            />
          )}
          <TextField
            label="Time limit (ms)"
            inputMode="numeric"
            hint="100 to 10000. Every request waits for the reply."
            value={draft.timeout}
            onChange={({ target }) => set({ timeout: target.value })}
            error={errorOf('timeout_ms')}
          />
        </>
      )}
      <div className="flex flex-wrap gap-x-6 gap-y-4">
        {check !== 'hook' && (
          <Choice
            label="Action"
            hint={draft.action === 'mask' ? 'Replaces what is found.' : 'Stops the request or the answer.'}
          >
            <Segmented
              label="Action"
              value={draft.action}
              choices={ACTIONS}
              onChoose={(chosen) => set({ action: chosen })}
            />
          </Choice>
        )}
        <Choice label="Side">
          <Segmented label="Side" value={draft.side} choices={SIDES} onChoose={(side) => set({ side })} />
        </Choice>
      </div>
      <Fold
        title="Workspace, name, failures"
        opens={rule !== null}
        mustShow={errorOf('workspace') !== null || errorOf('name') !== null}
      >
        <div className="flex flex-col gap-4">
          <WorkspaceField
            account={account}
            value={draft.workspace}
            error={errorOf('workspace')}
            onValue={(workspace) => set({ workspace })}
          />
          <TextField
            label="Name"
            maxLength={100}
            placeholder={defaultName(draft)}
            hint="Leave blank for the default."
            value={draft.name}
            onChange={({ target }) => set({ name: target.value })}
            error={errorOf('name')}
          />
          <Choice label="If it can’t run" hint="Such as a hook that doesn’t answer in time.">
            <Segmented
              label="If it can’t run"
              value={draft.failsOpen ? 'open' : 'closed'}
              choices={FAILURES}
              onChoose={(chosen) => set({ failsOpen: chosen === 'open' })}
            />
          </Choice>
        </div>
      </Fold>
    </FormDialog>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: ReactNode;
}

function Choice({ label, hint, children }: ChoiceProps) {
  return (
    <div className="flex flex-col gap-1">
      <span aria-hidden="true" className="font-medium">
        {label}
      </span>
      {children}
      {hint !== undefined && <p className="text-sm text-ink-3">{hint}</p>}
    </div>
  );
}

interface DetectorFieldsProps {
  readonly detectors: readonly Detector[];
  readonly chosen: readonly string[];
  readonly error: string | null;
  readonly onChosen: (names: readonly string[]) => void;
}

function DetectorFields({ detectors, chosen, error, onChosen }: DetectorFieldsProps) {
  const isAll = detectors.every(({ name }) => chosen.includes(name));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 font-medium">What to find</legend>
      <CheckField
        label="All, including future ones"
        checked={isAll}
        onChange={({ target }) => onChosen(target.checked ? detectors.map(({ name }) => name) : [])}
      />
      <div className="flex max-h-60 flex-col gap-1.5 overflow-y-auto rounded-md border border-line p-2.5">
        {detectors.map(({ name, title, description }) => (
          <CheckField
            key={name}
            label={title}
            hint={description}
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              onChosen(target.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
            }
          />
        ))}
      </div>
      {error !== null && (
        <p role="alert" tabIndex={-1} data-fault="" className="text-sm text-red">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface WorkspaceFieldProps {
  readonly account: CurrentAccount;
  /** Empty: all. */
  readonly value: string;
  readonly error: string | null;
  readonly onValue: (workspace: string) => void;
}

function WorkspaceField({ account, value, error, onValue }: WorkspaceFieldProps) {
  const { data } = useReply('GET /accounts/{account}/workspaces', { path: { account: account.account } });
  const known = data?.workspaces.map(({ id }) => id) ?? [];
  const choices = value === '' || known.includes(value) ? known : [value, ...known];
  return (
    <SelectField label="Applies to" value={value} error={error} onChange={({ target }) => onValue(target.value)}>
      {account.workspaces === null && <option value="">All workspaces</option>}
      {choices.map((id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </SelectField>
  );
}
