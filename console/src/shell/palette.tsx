/**
 * Shows the palette's results: pages, keys and requests by name. Prefetched; `palette-dialog.tsx` renders the dialog.
 */

import { Command } from 'cmdk';
import { useLayoutEffect, useRef, useState } from 'react';
import { useReply } from '../lib/queries.ts';
import { useAccount } from '../lib/session.ts';
import { useNavigate } from '../route/route.ts';
import { permittedPages } from './pages.ts';
import { PALETTE_FIELD, PALETTE_HINT, type TypedAhead } from './palette-field.ts';

const REQUEST_ID = /^req_[\w-]{4,}$/;
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
  const account = useAccount();
  const navigate = useNavigate();
  const [text, setText] = useState(typed.text);
  const keys = useReply(
    'GET /accounts/{account}/keys',
    { path: { account: account.account } },
    { enabled: account.may('keys.read') && text.length > 1 },
  );
  useLayoutEffect(() => {
    const field = ref.current;
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
    if (!typed.isEntered) return;
    // The first result is selected one frame after it is rendered.
    requestAnimationFrame(() => field?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })));
  }, [typed]);
  const go = (to: string) => {
    onClose();
    navigate({ to });
  };
  const query = text.trim();
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
        {REQUEST_ID.test(query) && (
          <Command.Group heading="Request" className={HEADING}>
            <Command.Item value={query} onSelect={() => go(`/app/logs/${query}`)} className={ITEM}>
              Open {query}
            </Command.Item>
          </Command.Group>
        )}
        <Command.Group heading="Pages" className={HEADING}>
          {permittedPages(account.may)
            .flat()
            .map(({ path, name, icon: Icon, key }) => (
              <Command.Item key={path} value={name} onSelect={() => go(path)} className={ITEM}>
                <Icon size={15} aria-hidden="true" className="text-ink-2" />
                <span className="flex-1">{name}</span>
                <kbd className="text-ink-3">g {key}</kbd>
              </Command.Item>
            ))}
        </Command.Group>
        {keys.data !== undefined && (
          <Command.Group heading="API keys" className={HEADING}>
            {keys.data.keys.map((key) => (
              <Command.Item
                key={key.id}
                value={`${key.name} ${key.last4} ${key.id}`}
                onSelect={() => go(`/app/keys/${key.id}`)}
                className={ITEM}
              >
                <span className="min-w-0 flex-1 truncate">{key.name}</span>
                <code className="text-ink-3">tg_…{key.last4}</code>
              </Command.Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command>
  );
}
