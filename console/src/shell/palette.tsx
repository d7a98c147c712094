/**
 * Shows the palette's results: pages, actions, saved views, accounts, models, members, keys and requests by name. Prefetched;
 * `palette-dialog.tsx` renders the dialog.
 */

import { Command } from 'cmdk';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useReply } from '../lib/queries.ts';
import { useAccount, useChooseAccount, useSession } from '../lib/session.ts';
import type { SearchParams } from '../route/address.ts';
import { useNavigate } from '../route/route.ts';
import { permittedPages } from './pages.ts';
import { PALETTE_FIELD, PALETTE_HINT, type TypedAhead } from './palette-field.ts';

const REQUEST_ID = /^req_[\w-]{4,}$/;
/** Of models and of members. A longer text finds the others. */
const SHOWN_MAX = 20;
const ITEM = 'flex h-8 cursor-pointer items-center gap-2.5 rounded-sm px-2 data-[selected=true]:bg-hover';
const HEADING =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3';

interface PaletteProps {
  /** Text typed before this module was loaded. */
  readonly typed: TypedAhead;
  readonly onClose: () => void;
}

export default function Palette({ typed, onClose }: PaletteProps) {
  const ref = useRef<HTMLInputElement>(null);
  const { account, may } = useAccount();
  const navigate = useNavigate();
  const chooseAccount = useChooseAccount();
  const otherAccounts = (useSession().data?.accounts ?? []).filter((one) => one.account !== account);
  const [text, setText] = useState(typed.text);
  const query = text.trim();
  const isSearch = query.length > 1;
  const path = { account };
  const keys = useReply('GET /accounts/{account}/keys', { path }, { enabled: may('keys.read') && isSearch });
  const models = useReply('GET /accounts/{account}/models', { path }, { enabled: may('models.read') && isSearch });
  const people = useReply('GET /accounts/{account}/members', { path }, { enabled: may('members.read') && isSearch });
  const views = useReply('GET /accounts/{account}/views', { path }, { enabled: may('logs.read') && isSearch });
  useLayoutEffect(() => {
    const field = ref.current;
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
    if (!typed.isEntered) return;
    // The first result is selected one frame after it is rendered.
    requestAnimationFrame(() => field?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })));
  }, [typed]);
  const open = (to: string, search: SearchParams = {}) => {
    onClose();
    navigate({ to, search });
  };
  const isNamed = (name: string) => isSearch && name.toLowerCase().includes(query.toLowerCase());
  return (
    <Command label="Search" loop>
      <Command.Input
        data-first-field
        ref={ref}
        value={text}
        onValueChange={setText}
        placeholder={PALETTE_HINT}
        className={PALETTE_FIELD}
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
        <Command.Empty className="px-2 py-6 text-center text-ink-2">No results</Command.Empty>
        <Results heading="Request">
          {REQUEST_ID.test(query) && [
            <Result key={query} value={query} label={`Open ${query}`} onSelect={() => open(`/app/logs/${query}`)} />,
          ]}
        </Results>
        <Results heading="Pages">
          {permittedPages(may)
            .flat()
            .map((page) => (
              <Result
                key={page.path}
                value={page.name}
                icon={<page.icon size={15} aria-hidden="true" className="text-ink-2" />}
                label={page.name}
                detail={<kbd className="text-ink-3">g {page.key}</kbd>}
                onSelect={() => open(page.path)}
              />
            ))}
        </Results>
        <Results heading="Views">
          {(views.data?.views ?? [])
            .filter(({ name }) => isNamed(name))
            .slice(0, SHOWN_MAX)
            .map((view) => (
              <Result
                key={view.id}
                value={`view ${view.name} ${view.id}`}
                label={view.name}
                detail={<span className="text-ink-3">{view.shared ? 'Shared view' : 'View'}</span>}
                onSelect={() => open('/app/logs', { ...view.search, saved: view.id })}
              />
            ))}
        </Results>
        <Results heading="Actions">
          {[
            ...(may('keys.write') ? [{ label: 'Create API key', path: '/app/keys', action: 'create' }] : []),
            ...(may('members.write') ? [{ label: 'Invite member', path: '/app/members', action: 'invite' }] : []),
          ].map(({ label, path: page, action }) => (
            <Result key={label} value={label} label={label} onSelect={() => open(page, { action })} />
          ))}
        </Results>
        <Results heading="Accounts">
          {otherAccounts.map((other) => (
            <Result
              key={other.account}
              value={`Switch to account ${other.name} ${other.account}`}
              label={`Switch to ${other.name}`}
              detail={<code className="text-ink-3">{other.account}</code>}
              onSelect={() => {
                onClose();
                chooseAccount(other.account);
              }}
            />
          ))}
        </Results>
        <Results heading="Models">
          {(models.data?.models ?? [])
            .filter(({ name }) => isNamed(name))
            .slice(0, SHOWN_MAX)
            .map(({ name }) => (
              <Result
                key={name}
                value={`model ${name}`}
                label={name}
                onSelect={() => open('/app/models', { model: name })}
              />
            ))}
        </Results>
        <Results heading="Members">
          {(people.data?.members ?? [])
            .filter(({ name, email }) => isNamed(name) || isNamed(email))
            .slice(0, SHOWN_MAX)
            .map(({ person, name, email }) => (
              <Result
                key={person}
                value={`member ${name} ${email}`}
                label={name}
                detail={<span className="truncate text-ink-3">{email}</span>}
                onSelect={() => open('/app/members', { q: email })}
              />
            ))}
        </Results>
        <Results heading="API keys">
          {isSearch &&
            (keys.data?.keys ?? []).map((key) => (
              <Result
                key={key.id}
                value={`${key.name} ${key.last4} ${key.id}`}
                label={key.name}
                detail={<code className="text-ink-3">tg_…{key.last4}</code>}
                onSelect={() => open(`/app/keys/${key.id}`)}
              />
            ))}
        </Results>
      </Command.List>
    </Command>
  );
}

interface ResultsProps {
  readonly heading: string;
  readonly children: readonly ReactNode[] | false;
}

/** A group of results. Nothing where it is empty. */
function Results({ heading, children }: ResultsProps) {
  if (children === false || children.length === 0) return null;
  return (
    <Command.Group heading={heading} className={HEADING}>
      {children}
    </Command.Group>
  );
}

interface ResultProps {
  /** What the typed text is compared with. */
  readonly value: string;
  readonly label: string;
  readonly icon?: ReactNode;
  readonly detail?: ReactNode;
  readonly onSelect: () => void;
}

function Result({ value, label, icon, detail, onSelect }: ResultProps) {
  return (
    <Command.Item value={value} onSelect={onSelect} className={ITEM}>
      {icon}
      <span className="min-w-0 flex-1 truncate">{label}</span>
      {detail}
    </Command.Item>
  );
}
