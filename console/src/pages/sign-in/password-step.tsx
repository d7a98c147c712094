/**
 * Renders the first sign-in step: email and password, a passkey, or another service. Offers passkeys as autofill in
 * the email field.
 */
import { useMutation } from '@tanstack/react-query';
import { Fingerprint } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { ApiError, ask } from '../../lib/api.ts';
import { useAction } from '../../lib/queries.ts';
import { loadSession, type Session } from '../../lib/session.ts';
import {
  canUsePasskeys,
  PasskeyFailure,
  requestPasskey,
  requestPasskeyAutofill,
  signedJson,
  supportsPasskeyAutofill,
} from '../../lib/web-authn.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote, memberError } from '../../ui/error-note.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';

interface PasswordStepProps {
  readonly session: Session;
  /** The address of an invitation, which cannot be changed. */
  readonly emailGiven?: string;
  /** Called on success: a second step follows, or the page. */
  readonly onStepped: () => void;
}

export function PasswordStep({ session, emailGiven, onStepped }: PasswordStepProps) {
  const [email, setEmail] = useState(emailGiven ?? '');
  const [password, setPassword] = useState('');
  const signIn = useAction('POST /sign-in');
  const stepped = async () => {
    onStepped();
    await loadSession();
  };
  const send = (account?: string) => {
    const body = { email: email.trim(), password, ...(account === undefined ? {} : { account }) };
    signIn.mutate({ body }, { onSuccess: ({ state }) => (state === 'choose_account' ? undefined : stepped()) });
  };
  const accounts = signIn.data?.accounts;
  return (
    <div className="flex flex-col gap-4">
      <Form
        label="Sign in with password"
        error={signIn.error}
        members={['email', 'password']}
        onSubmit={() => send()}
        foot={
          <Button type="submit" kind="primary" busy={signIn.isPending}>
            Sign in
          </Button>
        }
      >
        <TextField
          label="Email"
          type="email"
          autoComplete={emailGiven === undefined ? 'username webauthn' : 'username'}
          required
          readOnly={emailGiven !== undefined}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={memberError(signIn.error, 'email')}
        />
        <PasswordField
          label="Password"
          autoComplete="current-password"
          value={password}
          onValue={setPassword}
          error={memberError(signIn.error, 'password')}
        />
      </Form>
      {accounts !== undefined && <AccountStep accounts={accounts} busy={signIn.isPending} onChoose={send} />}
      <OtherWays session={session} hasFreeEmail={emailGiven === undefined} onStepped={stepped} />
    </div>
  );
}

const readOptions = () => ask('POST /sign-in/passkey/options', { body: {} });

interface OtherWaysProps {
  readonly session: Session;
  /** Whether the email field accepts any address, and so can offer passkeys. */
  readonly hasFreeEmail: boolean;
  readonly onStepped: () => Promise<void>;
}

function OtherWays({ session, hasFreeEmail, onStepped }: OtherWaysProps) {
  const passkey = useMutation<void, Error, PublicKeyCredential | null>({
    mutationFn: async (offered) => {
      const response = offered === null ? await requestPasskey(await readOptions()) : signedJson(offered);
      await ask('POST /sign-in/passkey', { body: { response } });
    },
    onSuccess: onStepped,
  });
  const service = useMutation<void, ApiError, string>({
    mutationFn: async (provider) => {
      const { url } = await ask('POST /sign-in/oidc', { body: { provider } });
      location.assign(url);
    },
  });
  const hasPasskeys = session.passkeys && canUsePasskeys();
  // Not while a requested passkey is pending, and not again after a failure, whose message must stay visible.
  usePasskeyAutofill(hasPasskeys && hasFreeEmail && passkey.isIdle, passkey.mutate);
  if (!hasPasskeys && session.oidc.length === 0) return null;
  const failure = passkey.error ?? service.error;
  return (
    <>
      <p aria-hidden="true" className="flex items-center gap-3 text-sm text-ink-3">
        <span className="h-px flex-1 bg-line" />
        or
        <span className="h-px flex-1 bg-line" />
      </p>
      <div className="flex flex-col gap-2">
        {hasPasskeys && (
          <Button
            icon={<Fingerprint size={15} aria-hidden="true" />}
            busy={passkey.isPending}
            onClick={() => passkey.mutate(null)}
          >
            Sign in with passkey
          </Button>
        )}
        {session.oidc.map(({ id, name }) => (
          <Button
            key={id}
            busy={service.isPending && service.variables === id}
            disabled={service.isPending}
            onClick={() => service.mutate(id)}
          >
            Continue with {name}
          </Button>
        ))}
      </div>
      {failure !== null && (failure instanceof ApiError || failure instanceof PasskeyFailure) && (
        <ErrorNote error={failure} />
      )}
    </>
  );
}

interface AccountStepProps {
  readonly accounts: readonly { readonly account: string; readonly name: string }[];
  readonly busy: boolean;
  readonly onChoose: (account: string) => void;
}

function AccountStep({ accounts, busy, onChoose }: AccountStepProps) {
  return (
    <fieldset aria-label="Account" className="flex flex-col gap-2">
      <p className="text-read">Several users have this email and password. Choose an account.</p>
      {accounts.map(({ account, name }) => (
        <Button key={account} disabled={busy} onClick={() => onChoose(account)}>
          {name}
        </Button>
      ))}
    </fieldset>
  );
}

/** Renewed before the challenge, which is valid for five minutes, is too old to be signed. */
const RENEWED_MS = 4 * 60_000;

/** `onChosen`: receives the credential that the browser signed. */
function usePasskeyAutofill(isWanted: boolean, onChosen: (signed: PublicKeyCredential) => void): void {
  const tell = useRef(onChosen);
  tell.current = onChosen;
  useEffect(() => {
    if (!isWanted) return;
    let offer = new AbortController();
    const begin = async () => {
      offer.abort();
      offer = new AbortController();
      const { signal } = offer;
      const chosen = await readChosen(signal).catch(() => null);
      if (chosen !== null && !signal.aborted) tell.current(chosen);
    };
    void begin();
    const timer = setInterval(begin, RENEWED_MS);
    return () => {
      clearInterval(timer);
      offer.abort();
    };
  }, [isWanted]);
}

/** Null when this browser offers none. */
async function readChosen(signal: AbortSignal): Promise<PublicKeyCredential | null> {
  if (!(await supportsPasskeyAutofill())) return null;
  return requestPasskeyAutofill(await ask('POST /sign-in/passkey/options', { body: {} }, signal), signal);
}
