/** Asks which user to sign in as, when several users with this email address have this password. */
import { Button } from '../../ui/button.tsx';

interface AccountStepProps {
  readonly accounts: readonly { readonly account: string; readonly name: string }[];
  readonly busy: boolean;
  readonly onChoose: (account: string) => void;
}

export function AccountStep({ accounts, busy, onChoose }: AccountStepProps) {
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
