/** Opens a dialog as modal, focuses its first field, and restores the focus when the dialog is gone. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

const FIRST_FIELD =
  'form :is(input, select, textarea):not([readonly], [disabled], [type="hidden"]), [data-first-field]';

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
      // The opener is gone, such as the row that was deleted.
      if (focusedElement() === null) document.getElementById('content')?.focus({ preventScroll: true });
    };
  }, [ref]);
}

function focusedElement(): HTMLElement | null {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement !== document.body ? activeElement : null;
}
