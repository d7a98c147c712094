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
      error: memberError(error, `${member}.${name}`),
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
