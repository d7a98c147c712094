/** Owns the palette: type to go to a page, a key or a call. Loaded when it is first opened. */

import { Command } from 'cmdk';
import { useEffect, useRef, useState } from 'react';
import { useReply } from '../lib/queries.ts';
import { useAccount } from '../lib/session.ts';
import { useNavigate } from '../route/route.ts';
import { offeredPages } from './pages.ts';

const REQUEST_ID = /^req_[\w-]{4,}$/;
const ITEM = 'flex h-8 cursor-pointer items-center gap-2.5 rounded-sm px-2 data-[selected=true]:bg-hover';
const HEADING =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-ink-3';

export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const account = useAccount();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const keys = useReply(
    'GET /accounts/{account}/keys',
    { path: { account: account.account } },
    { enabled: account.may('keys.read') && text.length > 1 },
  );
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // The browser gives the focus to the first that can have it: the list around the field.
    dialog?.querySelector('input')?.focus();
    return () => dialog?.close();
  }, []);
  const go = (to: string) => {
    onClose();
    navigate({ to });
  };
  const asked = text.trim();
  return (
    <dialog
      ref={ref}
      aria-label="Go to a page, a key or a call"
      onCancel={onClose}
      onMouseDown={(event) => event.target === ref.current && onClose()}
      className="fixed mt-[12vh] w-[calc(100vw-24px)] max-w-140 rounded-lg border border-line bg-raised p-0 shadow-float"
    >
      <Command label="Go to" loop>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="A page, a key, a request id…"
          className="h-11 w-full border-b border-line bg-transparent px-4 text-read placeholder:text-ink-3"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
          <Command.Empty className="px-2 py-6 text-center text-ink-2">Nothing of that name.</Command.Empty>
          {REQUEST_ID.test(asked) && (
            <Command.Group heading="Call" className={HEADING}>
              <Command.Item value={asked} onSelect={() => go(`/app/logs/${asked}`)} className={ITEM}>
                Open {asked}
              </Command.Item>
            </Command.Group>
          )}
          <Command.Group heading="Pages" className={HEADING}>
            {offeredPages(account.may)
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
            <Command.Group heading="Keys" className={HEADING}>
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
    </dialog>
  );
}
