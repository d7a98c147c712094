/**
 * Shown when the address names an account that the user cannot access, or that does not exist: lists the user's
 * accounts.
 */
import type { Session } from '../lib/session.ts';
import { Link } from '../route/link.tsx';
import { usePathname } from '../route/route.ts';
import { OpenFrame } from './open-frame.tsx';

export function UnknownAccount({ session, asked }: { readonly session: Session; readonly asked: string }) {
  const pathname = usePathname();
  const own = session.accounts.filter(({ member }) => member);
  return (
    <OpenFrame
      title={`You don’t have access to the account ${asked}`}
      lead={
        <>
          You’re signed in as <span className="font-medium text-ink">{session.person?.email}</span>. Ask one of its
          owners to invite this email address, or continue in another account:
        </>
      }
    >
      <ul className="flex flex-col gap-1">
        {(own.length > 0 ? own : session.accounts).map(({ account, name }) => (
          <li key={account}>
            <Link to={pathname} search={{ account }} className="text-accent underline underline-offset-2">
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </OpenFrame>
  );
}
