/** Opens a dialog as a modal one, focuses its first field, and returns the focus to where it was when the dialog is gone. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

const FIRST_FIELD =
  'form :is(input, select, textarea):not([readonly], [disabled], [type="hidden"]), [data-first-field]';

/** Of dialogs that leave in this commit: one that opens in their place returns the focus to where theirs came from. */
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
    // After the dialog is out of the document: while it is open, nothing behind it takes the focus.
    return () => {
      leaving = null;
      // A page that is hidden keeps its dialog in the document.
      dialog?.close();
      if (opener.current?.isConnected === true) opener.current.focus({ preventScroll: true });
      // What opened it is gone, such as the row that was deleted.
      if (focusedElement() === null) document.getElementById('content')?.focus({ preventScroll: true });
    };
  }, [ref]);
}

function focusedElement(): HTMLElement | null {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement !== document.body ? activeElement : null;
}
