/** Opens the palette at once, with a field that accepts input until the results are loaded. */
import { Suspense, useRef, useState } from 'react';
import { part } from '../lib/part.ts';
import { usePathname } from '../route/route.ts';
import { useModal } from '../ui/dialog.tsx';
import { FaultBoundary } from './page-fault.tsx';
import { PALETTE_FIELD, PALETTE_HINT, type TypedAhead } from './palette-field.ts';

const Palette = part(() => import('./palette.tsx'));

/** Called before the palette opens, at the first sign of user activity. */
export const prefetchPalette = Palette.prefetch;

export function PaletteDialog({ onClose }: { readonly onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  const pathname = usePathname();
  const [typed, setTyped] = useState<TypedAhead>({ text: '', isEntered: false });
  useModal(ref);
  return (
    <dialog
      ref={ref}
      aria-label="Command palette"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === ref.current && onClose()}
      className="fixed mt-[12vh] w-[calc(100vw-24px)] max-w-140 rounded-lg border border-line bg-raised p-0 shadow-float"
    >
      <FaultBoundary pathname={pathname} onClose={onClose}>
        <Suspense
          fallback={
            <input
              data-first-field
              aria-label="Search"
              autoComplete="off"
              spellCheck={false}
              value={typed.text}
              placeholder={PALETTE_HINT}
              className={PALETTE_FIELD}
              onChange={({ target }) => setTyped({ text: target.value, isEntered: false })}
              onKeyDown={({ key }) => {
                if (key === 'Enter') setTyped((known) => ({ ...known, isEntered: true }));
              }}
            />
          }
        >
          <Palette typed={typed} onClose={onClose} />
        </Suspense>
      </FaultBoundary>
    </dialog>
  );
}
