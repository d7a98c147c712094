/** Renders buttons: one look per weight, one size, a busy state. */
import { Download } from 'lucide-react';
import type { ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import { classNames } from './class-names.ts';

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

const KINDS: Readonly<Record<ButtonKind, string>> = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-strong',
  plain: 'border-line-strong bg-panel text-ink hover:bg-hover',
  quiet: 'border-transparent text-ink-2 hover:bg-hover hover:text-ink',
  danger: 'border-red/50 bg-panel text-red hover:bg-red-soft',
};

const SHAPE =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border px-3 font-medium transition-colors duration-120 aria-disabled:opacity-55';

/** The classes of a button, for links that look like one. */
export function buttonClasses(kind: ButtonKind = 'plain', extra?: string): string {
  return classNames(SHAPE, KINDS[kind], extra);
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: ButtonKind;
  /** The action is in progress: the button cannot be pressed again, and shows it. */
  readonly busy?: boolean;
  readonly icon?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** Uses `aria-disabled` so that the button keeps the focus; `disabled` would move it to the top of the page. */
export function Button(props: ButtonProps) {
  const { kind = 'plain', busy = false, icon, children, className, disabled = false, onClick, ...rest } = props;
  const isOff = disabled || busy;
  // Also prevents the default: Enter in a form presses its submit button.
  const press = (event: MouseEvent<HTMLButtonElement>) => (isOff ? event.preventDefault() : onClick?.(event));
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      aria-disabled={isOff || undefined}
      className={buttonClasses(kind, className)}
      onClick={press}
      {...rest}
    >
      {icon}
      {children}
      {busy && <span className="sr-only">, please wait</span>}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Accessible name; also the tooltip. */
  readonly label: string;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A square button with only an icon. */
export function IconButton({ label, className, children, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={classNames(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-md text-ink-2 transition-colors duration-120 hover:bg-hover hover:text-ink disabled:opacity-50',
        className,
      )}
      {...rest}
    >
      {children}
    </button>
  );
}

/** Downloads a file; the server sets its name. */
export function FileLink({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} download className={buttonClasses()}>
      <Download size={14} aria-hidden="true" />
      {children}
    </a>
  );
}
