/** Shows toasts at the edge of the window: what was done, with undo. They stay while hovered or focused. */
import { X } from 'lucide-react';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';

interface Toast {
  readonly text: string;
  readonly tone?: 'good' | 'bad';
  readonly undo?: () => void;
}

interface Shown extends Toast {
  readonly id: number;
}

const SHOWN_MS = 6_000;
const SHOWN_MAX = 4;
let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Shows a message for some seconds. */
export function toast(message: Toast): void {
  lastId += 1;
  show([...shown.slice(1 - SHOWN_MAX), { ...message, id: lastId }]);
}

function dismiss(id: number): void {
  show(shown.filter((one) => one.id !== id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Rendered once, in the shell. */
export function Toasts() {
  const messages = useSyncExternalStore(subscribe, () => shown);
  const ref = useRef<HTMLElement>(null);
  // A popover, and shown again for each message: an open dialog covers what is not above it in the browser's top layer.
  useEffect(() => {
    const raise = () => {
      ref.current?.hidePopover();
      ref.current?.showPopover();
    };
    raise();
    return subscribe(raise);
  }, []);
  return (
    <section
      ref={ref}
      popover="manual"
      aria-label="Notifications"
      aria-live="polite"
      className="pointer-events-none fixed inset-auto right-4 bottom-4 z-50 flex w-[min(360px,calc(100vw-32px))] flex-col gap-2 overflow-visible bg-transparent text-ink"
    >
      {messages.map((message) => (
        <ToastCard key={message.id} message={message} />
      ))}
    </section>
  );
}

function ToastCard({ message }: { readonly message: Shown }) {
  const [waits, setWaits] = useState(false);
  useEffect(() => {
    if (waits) return;
    const timer = setTimeout(() => dismiss(message.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [waits, message.id]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only holds the message back; its buttons are buttons
    <div
      onPointerEnter={() => setWaits(true)}
      onPointerLeave={() => setWaits(false)}
      onFocus={() => setWaits(true)}
      onBlur={() => setWaits(false)}
      className={classNames(
        'pointer-events-auto flex animate-[rise-in_140ms_ease-out] items-center gap-2 rounded-md border bg-raised py-2 pr-1 pl-3 shadow-float',
        message.tone === 'bad' ? 'border-red/50' : 'border-line',
      )}
    >
      <p className="min-w-0 flex-1">{message.text}</p>
      {message.undo !== undefined && (
        <Button
          kind="quiet"
          className="h-7 text-accent"
          onClick={() => {
            dismiss(message.id);
            message.undo?.();
          }}
        >
          Undo
        </Button>
      )}
      <IconButton label="Dismiss" onClick={() => dismiss(message.id)}>
        <X size={14} />
      </IconButton>
    </div>
  );
}
