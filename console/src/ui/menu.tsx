/**
 * Renders menus that open from a button. They are native popovers: above everything including open dialogs, closed by
 * Escape or a press elsewhere. The arrow keys move through the items.
 */
import {
  type CSSProperties,
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { classNames } from './class-names.ts';

type TriggerProps = {
  readonly id?: string;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
  readonly popoverTarget?: string;
};

interface MenuProps {
  readonly trigger: ReactElement<TriggerProps>;
  readonly align?: 'start' | 'end';
  readonly children: ReactNode;
}

const EDGE_PX = 8;
const GAP_PX = 4;

export function Menu({ trigger, align = 'end', children }: MenuProps) {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState<CSSProperties>({});

  function onToggle(isOpen: boolean): void {
    setOpen(isOpen);
    const menu = ref.current;
    const button = document.getElementById(`${id}-trigger`);
    if (!isOpen || menu === null || button === null) return;
    setPlace(placeMenu(button.getBoundingClientRect(), menu, align));
    itemsOf(menu)[0]?.focus();
  }

  return (
    <>
      {cloneElement(trigger, {
        id: `${id}-trigger`,
        popoverTarget: id,
        'aria-haspopup': 'menu',
        'aria-expanded': open,
      })}
      <div
        ref={ref}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-labelledby={`${id}-trigger`}
        style={place}
        onToggle={(event) => onToggle(event.newState === 'open')}
        onKeyDown={(event) => {
          // Its button gets the focus, from which Tab goes on.
          if (event.key === 'Tab') ref.current?.hidePopover();
          else walkItems(event);
        }}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest('[role="menuitem"]') !== null)
            ref.current?.hidePopover();
        }}
        className="inset-auto m-0 max-h-[calc(100dvh-16px)] min-w-44 overflow-y-auto rounded-md border border-line bg-raised p-1 text-ink shadow-float"
      >
        {children}
      </div>
    </>
  );
}

/** Below the button, or above it when there is no room; always inside the window. */
function placeMenu(button: DOMRect, menu: HTMLElement, align: 'start' | 'end'): CSSProperties {
  const { offsetWidth, offsetHeight } = menu;
  const below = button.bottom + GAP_PX;
  const fits = below + offsetHeight + EDGE_PX <= innerHeight;
  const left = align === 'start' ? button.left : button.right - offsetWidth;
  return {
    top: fits ? below : Math.max(EDGE_PX, button.top - GAP_PX - offsetHeight),
    left: Math.max(EDGE_PX, Math.min(left, innerWidth - offsetWidth - EDGE_PX)),
  };
}

function itemsOf(menu: Element): readonly HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]:not([disabled])')];
}

function walkItems(event: KeyboardEvent<HTMLElement>): void {
  const items = itemsOf(event.currentTarget);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: at + 1, ArrowUp: at - 1 + (at <= 0 ? items.length : 0), Home: 0, End: items.length - 1 }[
    event.key
  ];
  if (step === undefined) return;
  event.preventDefault();
  items[step % items.length]?.focus();
}

interface MenuItemProps {
  readonly onSelect: () => void;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly icon?: ReactNode;
  /** Shown at the right, such as a role. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export function MenuItem({ onSelect, danger = false, disabled = false, icon, aside, children }: MenuItemProps) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      disabled={disabled}
      onClick={onSelect}
      className={classNames(
        'flex h-8 w-full items-center gap-2 rounded-sm px-2 text-left outline-offset-[-2px] hover:bg-hover focus:bg-hover disabled:text-ink-3',
        danger && 'text-red',
      )}
    >
      {icon}
      <span className="flex-1">{children}</span>
      {aside !== undefined && <span className="text-ink-3">{aside}</span>}
    </button>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return <div className="px-2 py-1 text-xs text-ink-3">{children}</div>;
}

export function MenuLine() {
  return <hr className="my-1 border-line" />;
}
