/** Renders the fields of a key, for creating and for editing one. */
import { type ReactNode, useId, useRef } from 'react';
import type { ApiError } from '../../lib/api.ts';
import { useClockZone } from '../../lib/zone.ts';
import { CapsFields } from '../../policy/caps-fields.tsx';
import { ModelsField } from '../../policy/models-field.tsx';
import { type Faults, faultOf } from '../../policy/read.ts';
import { CheckField, SelectField, TextAreaField, TextField, useShownError } from '../../ui/field.tsx';
import { SCOPES } from './key.ts';
import { type Expiry, type KeyDraft, NAME_MAX } from './key-draft.ts';

export const KEY_MEMBERS = [
  'name',
  'workspace',
  'models',
  'ips',
  'scopes',
  'expires_at',
  'tags',
  'caps.rpm',
  'caps.tpm',
  'caps.concurrency',
  'caps.budget_usd',
] as const;

export const EXPIRIES: readonly (readonly [Expiry, string])[] = [
  ['never', 'Never'],
  ['7d', 'In 7 days'],
  ['30d', 'In 30 days'],
  ['90d', 'In 90 days'],
  ['365d', 'In 1 year'],
  ['at', 'Custom date…'],
];

interface KeyFormProps {
  readonly account: string;
  readonly workspaces: readonly string[];
  readonly draft: KeyDraft;
  readonly faults: Faults;
  readonly error: ApiError | null;
  /** For a key that already has limits: whether they may only be tightened. */
  readonly tightensOnly?: boolean;
  /** Limits that apply in addition to those of the form. */
  readonly otherLimits?: ReactNode;
  readonly onChange: (draft: KeyDraft) => void;
}

export function KeyForm({
  account,
  workspaces,
  draft,
  faults,
  error,
  tightensOnly = false,
  otherLimits = null,
  onChange,
}: KeyFormProps) {
  const fault = (member: string) => faultOf(faults, error, member);
  return (
    <div className="flex flex-col gap-6">
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label="Name"
          value={draft.name}
          maxLength={NAME_MAX}
          autoComplete="off"
          placeholder="billing-api, ada’s laptop"
          error={fault('name')}
          onChange={({ target }) => onChange({ ...draft, name: target.value })}
        />
        <SelectField
          label="Workspace"
          value={draft.workspace}
          error={fault('workspace')}
          onChange={({ target }) => onChange({ ...draft, workspace: target.value })}
        >
          {workspaces.map((workspace) => (
            <option key={workspace}>{workspace}</option>
          ))}
        </SelectField>
      </div>
      <ModelsField
        account={account}
        workspace={draft.workspace === '' ? null : draft.workspace}
        draft={draft.models}
        fault={fault('models')}
        onChange={(models) => onChange({ ...draft, models })}
      />
      <FormPart
        title="Limits"
        hint={`Limits of the workspace and account apply too.${tightensOnly ? ' You can lower the key’s limits; only an owner or admin can raise or remove them.' : ''}`}
      >
        {otherLimits}
        <CapsFields
          draft={draft.caps}
          faults={faults}
          error={error}
          onChange={(caps) => onChange({ ...draft, caps })}
        />
      </FormPart>
      <ExpiryFields
        choices={EXPIRIES}
        draft={draft}
        error={fault('expires_at')}
        onChange={(changes) => onChange({ ...draft, ...changes })}
      />
      <TextField
        label="Allowed IP addresses"
        hint="Comma-separated addresses or networks, such as 10.0.0.0/8, 203.0.113.7. Leave blank to allow all."
        placeholder="All"
        autoComplete="off"
        spellCheck={false}
        value={draft.ips}
        error={fault('ips')}
        onChange={({ target }) => onChange({ ...draft, ips: target.value })}
      />
      <TextAreaField
        label="Tags"
        hint="One per line, such as team=web. To find keys and to sum up their usage; requests aren’t affected."
        rows={2}
        spellCheck={false}
        value={draft.tags}
        error={fault('tags')}
        onChange={({ target }) => onChange({ ...draft, tags: target.value })}
      />
      <Scopes draft={draft} fault={fault('scopes')} onChange={onChange} />
      <CheckField
        label="Strict translation"
        hint="Rejects a request if translating it to the model’s format would drop a field. Otherwise dropped fields are listed in a response header."
        checked={draft.strict}
        onChange={({ target }) => onChange({ ...draft, strict: target.checked })}
      />
    </div>
  );
}

interface ExpiryFieldsProps<Choice extends string> {
  readonly choices: readonly (readonly [Choice, string])[];
  readonly draft: { readonly expiry: Choice; readonly expiresAt: string };
  readonly error: string | null;
  readonly onChange: (changes: { readonly expiry: Choice } | { readonly expiresAt: string }) => void;
}

/** A choice of spans, and with `at` a date and time in the zone of the user's clock. */
export function ExpiryFields<Choice extends string>({ choices, draft, error, onChange }: ExpiryFieldsProps<Choice>) {
  const zone = useClockZone();
  const isDate = draft.expiry === 'at';
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <SelectField
        label="Expires"
        value={draft.expiry}
        error={isDate ? null : error}
        onChange={({ target }) => onChange({ expiry: target.value as Choice })}
      >
        {choices.map(([expiry, words]) => (
          <option key={expiry} value={expiry}>
            {words}
          </option>
        ))}
      </SelectField>
      {isDate && (
        <TextField
          label="Date and time"
          type="datetime-local"
          hint={`Time zone: ${zone}`}
          value={draft.expiresAt}
          error={error}
          onChange={({ target }) => onChange({ expiresAt: target.value })}
        />
      )}
    </div>
  );
}

export function FormPart({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint: string;
  readonly children: React.ReactNode;
}) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 flex flex-wrap items-baseline gap-x-2">
        <span className="font-semibold">{title}</span>
        <span className="text-sm text-ink-3">{hint}</span>
      </legend>
      {children}
    </fieldset>
  );
}

function Scopes({
  draft,
  fault: given,
  onChange,
}: {
  readonly draft: KeyDraft;
  readonly fault: string | null;
  readonly onChange: (draft: KeyDraft) => void;
}) {
  const id = useId();
  const frame = useRef<HTMLFieldSetElement>(null);
  const { error: fault, noteChange } = useShownError(given, frame);
  return (
    <fieldset
      ref={frame}
      onChange={noteChange}
      aria-describedby={fault === null ? undefined : id}
      className="flex min-w-0 flex-col gap-2"
    >
      <legend className="mb-2 font-medium">Permissions</legend>
      {SCOPES.map(([scope, name, description]) => (
        <CheckField
          key={scope}
          label={name}
          hint={description}
          checked={draft.scopes.includes(scope)}
          aria-invalid={fault === null ? undefined : true}
          onChange={({ target }) =>
            onChange({
              ...draft,
              scopes: SCOPES.map(([one]) => one).filter((one) =>
                one === scope ? target.checked : draft.scopes.includes(one),
              ),
            })
          }
        />
      ))}
      {fault !== null && (
        <p id={id} className="text-sm text-red">
          {fault}
        </p>
      )}
    </fieldset>
  );
}
