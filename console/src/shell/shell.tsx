/**
 * Renders the frame of every signed-in page: navigation, the drawer of a narrow window, palette, keyboard shortcuts,
 * toasts.
 */
import { Menu as MenuIcon } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { type Session, useAccount } from '../lib/session.ts';
import { ClockZoneContext, clockZone, ZoneContext } from '../lib/zone.ts';
import { useNavigate } from '../route/route.ts';
import { IconButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { PermittedPage } from './access.tsx';
import { Mark, Navigation } from './navigation.tsx';
import { PAGE_GROUPS } from './pages.ts';
import { PaletteDialog, prefetchPalette } from './palette-dialog.tsx';
import { AlertBell } from './unseen-alerts.tsx';

/** Signs of user activity, which prefetch the palette. */
const SIGNS = ['pointermove', 'pointerdown', 'keydown'] as const;

export function Shell({ session }: { readonly session: Session }) {
  const account = useAccount();
  const navigate = useNavigate();
  const [palette, setPalette] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const [help, setHelp] = useState(false);
  const shortcuts = useMemo(() => {
    const pages = PAGE_GROUPS.flat().map(({ key, path }) => [`g ${key}`, () => navigate({ to: path })] as const);
    return { ...Object.fromEntries(pages), '/': goToFilter, '?': () => setHelp(true) };
  }, [navigate]);
  useShortcuts(shortcuts);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setPalette(true);
    };
    // In the capture phase: a row's menu stops the propagation of keys.
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  useEffect(() => {
    const onSign = (event: Event) => {
      // Chromium also sends a pointermove when content moves under a resting pointer. That is no activity.
      if (event instanceof PointerEvent && event.type === 'pointermove' && !event.movementX && !event.movementY) return;
      for (const sign of SIGNS) removeEventListener(sign, onSign, { capture: true });
      prefetchPalette();
    };
    for (const sign of SIGNS) addEventListener(sign, onSign, { capture: true, passive: true });
    return () => {
      for (const sign of SIGNS) removeEventListener(sign, onSign, { capture: true });
    };
  }, []);

  const openPalette = () => {
    setDrawer(false);
    setPalette(true);
  };
  return (
    <div className="md:grid md:min-h-dvh md:grid-cols-[208px_1fr] print:block">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-1.5 focus:shadow-float"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh border-r border-line bg-sunken md:block print:hidden">
        <Navigation session={session} account={account} onPalette={openPalette} />
      </aside>
      <header className="sticky top-0 z-20 flex h-12 items-center gap-2 border-b border-line bg-ground px-3 md:hidden print:hidden">
        <IconButton label="Pages" onClick={() => setDrawer(true)}>
          <MenuIcon size={18} />
        </IconButton>
        <Mark />
        <span className="font-semibold">Tollgate</span>
        <AlertBell account={account} />
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        <ZoneContext value={account.time_zone}>
          <ClockZoneContext value={clockZone(session.person?.time_zone ?? null, account.time_zone)}>
            <PermittedPage account={account} />
          </ClockZoneContext>
        </ZoneContext>
      </main>
      {drawer && (
        <Dialog title="Pages" onClose={() => setDrawer(false)}>
          <Navigation session={session} account={account} onPalette={openPalette} onChosen={() => setDrawer(false)} />
        </Dialog>
      )}
      {palette && <PaletteDialog onClose={() => setPalette(false)} />}
      {help && <Shortcuts onClose={() => setHelp(false)} />}
      <Toasts />
    </div>
  );
}

/** The page's filter: a text field, or the button that opens the filters. */
const findFilter = () => document.querySelector<HTMLElement>('[data-filter]');

function goToFilter(): void {
  const filter = findFilter();
  filter?.focus();
  if (filter instanceof HTMLButtonElement) filter.click();
}

function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const [hasFilter] = useState(() => findFilter() !== null);
  const rows = [
    ['⌘K or Ctrl K', 'Open command palette'],
    ...(hasFilter ? [['/', 'Filter the page'] as const] : []),
    ...PAGE_GROUPS.flat().map(({ key, name }) => [`g ${key}`, `Go to ${name}`]),
    ['↑ ↓ Enter', 'Move through a table, open a row'],
    ['Space, Shift ↑ ↓', 'Select rows'],
    ['Esc', 'Close'],
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5">
        {rows.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd className="text-ink-2">{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

const SEQUENCE_MS = 1_200;

/** Whether keys type into the target. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** `sequences`: `g k` or a single key, each with its action. Inactive while a dialog is open. */
function useShortcuts(sequences: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    let first: { key: string; atMs: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const started =
        first !== null && performance.now() - first.atMs < SEQUENCE_MS ? `${first.key} ${event.key}` : null;
      const act = (started === null ? undefined : sequences[started]) ?? sequences[event.key];
      first = act === undefined ? { key: event.key, atMs: performance.now() } : null;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [sequences]);
}
