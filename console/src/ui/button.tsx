/** Owns the buttons: one look for each weight, one size, a state of being busy. A button says what happens. */
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
  /** What it does is under way: it cannot be pressed again, and says so. */
  readonly busy?: boolean;
  readonly icon?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** Where it cannot be pressed it keeps the focus, which a `disabled` one would lose to the top of the page. */
export function Button(props: ButtonProps) {
  const { kind = 'plain', busy = false, icon, children, className, disabled = false, onClick, ...rest } = props;
  const isOff = disabled || busy;
  // Prevented, too: Enter in a form presses its submit button.
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
  /** What it does, for those who do not see the icon; shown at rest of the pointer too. */
  readonly label: string;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A square button of an icon alone. */
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
