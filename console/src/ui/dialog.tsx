/**
 * Renders layers over a page: a dialog in the middle, a sheet at the right, a confirmation. All are native modal
 * dialogs, which keep the focus inside, make the page behind inert, and close with Escape; after changes in a form,
 * closing asks first.
 */
import { X } from 'lucide-react';
import {
  type FormEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import type { ApiError } from '../lib/api.ts';
import { askBeforeLeaving, holdPage } from '../route/history.ts';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { ErrorNote } from './error-note.tsx';

interface LayerProps {
  readonly title: string;
  /** Under the title. */
  readonly lead?: ReactNode;
  readonly onClose: () => void;
  /** False: only its own buttons close it, to protect content that would be lost. */
  readonly closable?: boolean;
  /** True: it stays open, because only it shows the reply, such as a secret. */
  readonly busy?: boolean;
  /** Buttons at the bottom. */
  readonly footer?: ReactNode;
  readonly children: ReactNode;
  readonly wide?: boolean;
}

/** Mount it to show it. */
export function Dialog({ wide = false, ...rest }: LayerProps) {
  return (
    <Layer
      {...rest}
      className={classNames(
        'max-h-[calc(100dvh-32px)] w-[calc(100vw-24px)] animate-[rise-in_140ms_ease-out] rounded-lg border border-line bg-raised shadow-float',
        wide ? 'max-w-180' : 'max-w-120',
      )}
    />
  );
}

/** Mount it to show it; the page manages the sheet's address. */
export function Sheet({ wide = true, ...rest }: LayerProps) {
  return (
    <Layer
      {...rest}
      className={classNames(
        'mr-0 h-dvh max-h-none w-full animate-[sheet-in_150ms_ease-out] border-l border-line bg-panel shadow-float sm:w-[calc(100vw-48px)]',
        wide ? 'max-w-200' : 'max-w-130',
      )}
    />
  );
}

function Layer({
  title,
  lead,
  onClose,
  closable = true,
  busy = false,
  footer,
  children,
  className,
}: LayerProps & { readonly className: string }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isFilled = useRef(false);
  const release = useRef<(() => void) | null>(null);
  useEffect(() => () => release.current?.(), []);
  const [asks, setAsks] = useState(false);
  const leave = () => {
    if (!closable || busy) return;
    if (isFilled.current) setAsks(true);
    else onClose();
  };
  const noteFilled = ({ target }: FormEvent) => {
    // A dialog opened over this one is a descendant only in React, not in the DOM. Fields outside a form only change
    // what is shown.
    if (!(target instanceof Element) || target.closest('dialog') !== ref.current) return;
    if (target.closest('form') === null) return;
    isFilled.current = true;
    release.current ??= askBeforeLeaving(() => setAsks(true));
  };
  useModal(ref);
  useEffect(() => {
    if (closable && !busy) return;
    // Browsers let `cancel` refuse only the first Escape; the second would close the dialog. Listens on the document
    // because a button that was just disabled leaves the focus outside.
    const refuse = (event: KeyboardEvent) => {
      if (event.key === 'Escape') event.preventDefault();
    };
    document.addEventListener('keydown', refuse, true);
    return () => document.removeEventListener('keydown', refuse, true);
  }, [closable, busy]);
  // Back, a link or closing the window would lose the content too.
  useEffect(() => (closable ? undefined : holdPage()), [closable]);
  return (
    <>
      <dialog
        ref={ref}
        aria-labelledby={id}
        className={classNames('fixed flex flex-col p-0', className)}
        onChange={noteFilled}
        onCancel={(event) => {
          // React also hands over the events of a dialog opened inside this one.
          if (event.target !== ref.current || !event.cancelable) return;
          event.preventDefault();
          leave();
        }}
        onClose={(event) => {
          // The browser closed the dialog itself on a second Escape, which cannot be refused.
          if (ref.current === null || event.target !== ref.current) return;
          ref.current.showModal();
          leave();
        }}
        onMouseDown={(event) => {
          if (event.target === ref.current && !isFilled.current) leave();
        }}
      >
        <header className="flex items-start gap-3 border-b border-line py-3 pr-3 pl-5">
          <div className="min-w-0 flex-1 py-0.5">
            <h2 id={id} className="truncate text-[15px]/6 font-semibold">
              {title}
            </h2>
            {lead && <div className="text-ink-2">{lead}</div>}
          </div>
          {closable && (
            <IconButton label="Close" onClick={leave}>
              <X size={16} />
            </IconButton>
          )}
        </header>
        <section
          aria-labelledby={id}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: axe requires scrollable content to be focusable
          tabIndex={0}
          className="relative min-h-0 flex-1 overflow-y-auto px-5 py-4 outline-offset-[-2px]"
        >
          {children}
        </section>
        {footer && (
          <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-5 py-3">
            {footer}
          </footer>
        )}
      </dialog>
      {asks && (
        <Dialog
          title="Discard changes?"
          onClose={() => setAsks(false)}
          footer={
            <>
              <Button onClick={() => setAsks(false)}>Keep editing</Button>
              <Button kind="danger" onClick={onClose}>
                Discard
              </Button>
            </>
          }
        >
          <p className="text-read">Your changes haven’t been saved.</p>
        </Dialog>
      )}
    </>
  );
}

/** Not a choice that is not chosen: a space would choose it. */
const FIRST_FIELD =
  'form :is(input, select, textarea):not([readonly], [disabled], [type="hidden"], [type="radio"]:not(:checked)), [data-first-field]';

/** Opener of dialogs that unmount in this commit: a dialog that replaces one restores the focus to the same opener. */
let leaving: HTMLElement | null = null;

export function useModal(ref: RefObject<HTMLDialogElement | null>): void {
  const opener = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    opener.current = leaving ?? focusedElement() ?? opener.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    dialog?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    return () => {
      leaving = opener.current;
    };
  }, [ref]);
  useEffect(() => {
    const dialog = ref.current;
    // Runs after the dialog is removed: while it is open, nothing behind it can take the focus.
    return () => {
      leaving = null;
      // A hidden page keeps its dialog in the document.
      dialog?.close();
      if (opener.current?.isConnected === true) opener.current.focus({ preventScroll: true });
      keepFocus();
      // The list without a deleted row is shown one task after the dialog closes.
      setTimeout(keepFocus);
    };
  }, [ref]);
}

/** Where the opener is gone, such as the row that was deleted, the page gets the focus. */
function keepFocus(): void {
  if (focusedElement() === null) document.getElementById('content')?.focus({ preventScroll: true });
}

function focusedElement(): HTMLElement | null {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement !== document.body ? activeElement : null;
}

interface ConfirmProps {
  readonly title: string;
  /** Describes the consequence. */
  readonly children: ReactNode;
  /** For example "Revoke now". */
  readonly submitLabel: string;
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly onAction: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, children, submitLabel, busy, error, onAction, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      busy={busy}
      onClose={onClose}
      footer={
        <>
          <Button disabled={busy} onClick={onClose}>
            Cancel
          </Button>
          <Button kind="danger" busy={busy} onClick={onAction}>
            {submitLabel}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-read">
        {children}
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
