/** Renders the fields of a kind of provider from its descriptor: its settings, and the secrets of one credential. */
import type { ApiError } from '../../lib/api.ts';
import { memberError } from '../../ui/error-note.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import type { ProvidersReply } from './provider-form.ts';

export type Kind = ProvidersReply['kinds'][number];
/** The entered texts, by the names of their fields. */
export type Entered = Readonly<Record<string, string>>;

/** Without blank fields, which the API takes as not given. */
export function filledIn(entered: Entered): Record<string, string> {
  const trimmed = Object.entries(entered).map(([name, text]) => [name, text.trim()] as const);
  return Object.fromEntries(trimmed.filter(([, text]) => text !== ''));
}

/** The members of the body that have fields here. */
export function membersOf(fields: readonly { readonly name: string }[], member: string): readonly string[] {
  return fields.map(({ name }) => `${member}.${name}`);
}

interface FieldsProps {
  readonly kind: Kind | undefined;
  readonly entered: Entered;
  readonly error: ApiError | null;
  readonly onChange: (entered: Entered) => void;
}

export function KindSettings({ kind, entered, error, onChange }: FieldsProps) {
  return (kind?.settings ?? []).map(({ name, title, hint, options }) => {
    const field = {
      label: title,
      hint,
      value: entered[name] ?? '',
      error: memberError(error, `settings.${name}`),
      onChange: ({ target }: { readonly target: { readonly value: string } }) =>
        onChange({ ...entered, [name]: target.value }),
    };
    if (options.length === 0) return <TextField key={name} autoComplete="off" spellCheck={false} {...field} />;
    return (
      <SelectField key={name} {...field}>
        <option value="">Default</option>
        {options.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </SelectField>
    );
  });
}

interface BaseUrlFieldProps {
  readonly kind: Kind | undefined;
  /** The address while the field is blank; null: the default of the kind. */
  readonly current: string | null;
  readonly value: string;
  readonly error: ApiError | null;
  readonly onChange: (text: string) => void;
}

export function BaseUrlField({ kind, current, value, error, onChange }: BaseUrlFieldProps) {
  return (
    <TextField
      label="Base URL"
      type="url"
      placeholder={current ?? kind?.base_url ?? 'https://host.example/v1'}
      hint={addressHint(kind)}
      value={value}
      error={memberError(error, 'base_url')}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** The text of the field as the API takes it. */
export function addressIn(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

function addressHint(kind: Kind | undefined): string {
  if (kind?.derives_base_url === true) return 'Leave blank to derive it from the fields above.';
  if (kind !== undefined && kind.base_url !== null) return 'Leave blank for the default.';
  return 'Must use HTTPS. Private addresses must be allowed in the configuration file.';
}

interface SecretFieldsProps extends FieldsProps {
  /** The member of the body that has the secrets. */
  readonly member: string;
  /** Of all of them, below the last. */
  readonly hint: string;
}

export function SecretFields({ kind, member, entered, error, hint: common, onChange }: SecretFieldsProps) {
  const secrets = kind?.secrets ?? [];
  return secrets.map(({ name, title, hint, document }, at) => {
    const field = {
      label: title,
      hint: [hint, at === secrets.length - 1 ? common : null].filter((sentence) => sentence !== null).join(' '),
      autoComplete: 'off',
      spellCheck: false,
      value: entered[name] ?? '',
      // The first field shows what is said of all.
      error: memberError(error, `${member}.${name}`) ?? (at === 0 ? memberError(error, member) : null),
      onChange: ({ target }: { readonly target: { readonly value: string } }) =>
        onChange({ ...entered, [name]: target.value }),
    };
    return document ? (
      <TextAreaField key={name} rows={4} {...field} />
    ) : (
      <TextField key={name} type="password" {...field} />
    );
  });
}
