/** Renders the navigation sidebar: account, pages, user menu. */

import { BookOpen, ChevronsUpDown, LogOut, Search, UserRound } from 'lucide-react';
import { useState } from 'react';
import { sentenceCase } from '../lib/format.ts';
import { useAction } from '../lib/queries.ts';
import { type CurrentAccount, clearSession, type Session, useChooseAccount } from '../lib/session.ts';
import { chooseTheme, type ThemeChoice, themeChoice } from '../lib/theme.ts';
import { Link } from '../route/link.tsx';
import { useNavigate, usePathname } from '../route/route.ts';
import { classNames } from '../ui/class-names.ts';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx';
import { isAt, permittedPages } from './pages.ts';
import { UnseenAlerts } from './unseen-alerts.tsx';

interface NavigationProps {
  readonly session: Session;
  readonly account: CurrentAccount;
  readonly onPalette: () => void;
  /** Called after a page was chosen; closes the drawer of a narrow window. */
  readonly onChosen?: () => void;
}

export function Navigation({ session, account, onPalette, onChosen }: NavigationProps) {
  const pathname = usePathname();
  return (
    <nav aria-label="Pages" className="flex h-full flex-col gap-3 overflow-y-auto px-2.5 py-3">
      <div className="flex items-center gap-2 px-1.5">
        <Mark />
        <span className="text-read font-semibold tracking-[-0.01em]">Tollgate</span>
      </div>
      <AccountChoice session={session} account={account} />
      <button
        type="button"
        onClick={onPalette}
        className="flex h-8 shrink-0 items-center gap-2 rounded-md border border-line bg-panel px-2 text-ink-2 hover:border-line-strong hover:text-ink"
      >
        <Search size={14} aria-hidden="true" />
        <span className="flex-1 text-left">Search…</span>
        <kbd className="text-xs text-ink-3">{/Mac|iPhone/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <div className="flex flex-1 flex-col gap-3">
        {permittedPages(account.may).map((group) => (
          <ul key={group[0]?.path} className="flex flex-col gap-px">
            {group.map(({ path, name, icon: Icon }) => (
              <li key={path}>
                <Link
                  to={path}
                  onClick={onChosen}
                  aria-current={isAt(pathname, path) ? 'page' : undefined}
                  className="flex h-8 items-center gap-2.5 rounded-md px-2 text-ink-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink"
                >
                  <Icon size={15} strokeWidth={1.75} aria-hidden="true" className="shrink-0" />
                  {name}
                  {path === '/app/alerts' && <UnseenAlerts account={account} />}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </div>
      <PersonMenu session={session} />
    </nav>
  );
}

/** The product's logo: a gate with its bar. */
export function Mark() {
  return (
    <svg aria-hidden="true" width={20} height={20} viewBox="0 0 32 32" className="shrink-0 rounded-sm bg-accent">
      <path
        d="M7 11h18M16 11v13M10 8v6M22 8v6"
        stroke="var(--on-accent)"
        strokeWidth={2.8}
        strokeLinecap="round"
        fill="none"
      />
    </svg>
  );
}

function AccountChoice({ session, account }: { readonly session: Session; readonly account: CurrentAccount }) {
  const choose = useChooseAccount();
  if (session.accounts.length < 2) {
    return (
      <p className="truncate px-2 text-sm text-ink-3">
        {account.name} · {sentenceCase(account.role)}
      </p>
    );
  }
  const own = session.accounts.filter(({ member }) => member);
  const others = session.accounts.filter(({ member }) => !member);
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex h-8 items-center gap-2 rounded-md px-2 text-left hover:bg-hover"
          aria-label={`Account ${account.name}, switch account`}
        >
          <span className="min-w-0 flex-1 truncate font-medium">{account.name}</span>
          <ChevronsUpDown size={14} aria-hidden="true" className="text-ink-3" />
        </button>
      }
    >
      <MenuLabel>Your accounts</MenuLabel>
      {own.map((grant) => (
        <MenuItem key={grant.account} aside={sentenceCase(grant.role)} onSelect={() => choose(grant.account)}>
          {grant.name}
        </MenuItem>
      ))}
      {others.length > 0 && <MenuLabel>Other accounts</MenuLabel>}
      {others.map(({ account: id, name }) => (
        <MenuItem key={id} onSelect={() => choose(id)}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}

const THEMES: readonly (readonly [choice: ThemeChoice, word: string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

function PersonMenu({ session }: { readonly session: Session }) {
  const signOut = useAction('POST /sign-out');
  const navigate = useNavigate();
  const [theme, setTheme] = useState(themeChoice());
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="flex h-9 items-center gap-2 rounded-md px-2 text-left hover:bg-hover">
          <span
            aria-hidden="true"
            className="flex size-6 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent-strong"
          >
            {session.person?.name.slice(0, 1).toUpperCase()}
          </span>
          <span className="min-w-0 flex-1 truncate">{session.person?.name}</span>
          <ChevronsUpDown size={14} aria-hidden="true" className="text-ink-3" />
        </button>
      }
    >
      <MenuLabel>{session.person?.email}</MenuLabel>
      <MenuItem icon={<UserRound size={14} />} onSelect={() => navigate({ to: '/app/me' })}>
        Profile
      </MenuItem>
      <MenuItem icon={<BookOpen size={14} />} onSelect={() => void window.open('/docs', '_blank', 'noreferrer')}>
        Documentation
      </MenuItem>
      <MenuLine />
      {THEMES.map(([choice, word]) => (
        <MenuItem
          key={choice}
          icon={<span className="w-3.5">{theme === choice && '✓'}</span>}
          onSelect={() => {
            chooseTheme(choice);
            setTheme(choice);
          }}
        >
          <span className={classNames(theme === choice && 'font-medium')}>{word}</span>
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem icon={<LogOut size={14} />} onSelect={() => signOut.mutate({ body: {} }, { onSuccess: clearSession })}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
