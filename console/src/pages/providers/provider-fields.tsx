/** Renders the fields of a provider from the descriptor of its kind: settings, the secrets of one credential, address. */
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

/** The texts of a provider's fields. */
export interface ProviderTexts {
  readonly settings: Entered;
  readonly secrets: Entered;
  readonly baseUrl: string;
}

export const NO_TEXTS: ProviderTexts = { settings: {}, secrets: {}, baseUrl: '' };

/** The texts as members of the body. */
export function bodyOf({ settings, secrets, baseUrl }: ProviderTexts) {
  return { settings: filledIn(settings), credentials: filledIn(secrets), base_url: baseUrl.trim() || null };
}

/** The members of the body that `ProviderFields` has fields for. */
export function membersOfProvider(kind: Kind | undefined): readonly string[] {
  const settings = membersOf(kind?.settings ?? [], 'settings');
  return ['base_url', 'credentials', ...settings, ...membersOf(kind?.secrets ?? [], 'credentials')];
}

interface ProviderFieldsProps {
  readonly kind: Kind | undefined;
  readonly texts: ProviderTexts;
  /** The address while its field is blank; null: the default of the kind; empty: unknown here. */
  readonly address: string | null;
  /** Below the last secret. */
  readonly secretsHint: string;
  readonly error: ApiError | null;
  readonly onChange: (texts: ProviderTexts) => void;
}

export function ProviderFields({ kind, texts, address, secretsHint, error, onChange }: ProviderFieldsProps) {
  return (
    <>
      <KindSettings
        kind={kind}
        entered={texts.settings}
        error={error}
        onChange={(settings) => onChange({ ...texts, settings })}
      />
      <SecretFields
        kind={kind}
        member="credentials"
        entered={texts.secrets}
        error={error}
        hint={secretsHint}
        onChange={(secrets) => onChange({ ...texts, secrets })}
      />
      <TextField
        label="Base URL"
        type="url"
        placeholder={address ?? kind?.base_url ?? 'https://host.example/v1'}
        hint={addressHint(kind)}
        value={texts.baseUrl}
        error={memberError(error, 'base_url')}
        onChange={({ target }) => onChange({ ...texts, baseUrl: target.value })}
      />
    </>
  );
}

interface FieldsProps {
  readonly kind: Kind | undefined;
  readonly entered: Entered;
  readonly error: ApiError | null;
  readonly onChange: (entered: Entered) => void;
}

function KindSettings({ kind, entered, error, onChange }: FieldsProps) {
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

function addressHint(kind: Kind | undefined): string {
  if (kind?.derives_base_url === true) return 'Leave blank to derive it from the fields above.';
  if (kind !== undefined && kind.base_url !== null) return 'Leave blank for the default.';
  return 'Must use HTTPS. Private addresses must be allowed in the configuration file.';
}

interface SecretFieldsProps extends FieldsProps {
  /** The member of the body that has the secrets. */
  readonly member: string;
  /** Below the last one. */
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
      // The first field shows the error of all.
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
