/**
 * Renders the frame of the pages outside the console, such as sign-in, setup and invitations: one column with a title.
 */
import { type ReactNode, useEffect } from 'react';
import { classNames } from '../ui/class-names.ts';
import { Toasts } from '../ui/toasts.tsx';
import { Mark } from './navigation.tsx';

interface OpenFrameProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** For larger forms. */
  readonly wide?: boolean;
  readonly children?: ReactNode;
}

export function OpenFrame({ title, lead, wide = false, children }: OpenFrameProps) {
  useEffect(() => {
    document.title = `${title} · Tollgate`;
  }, [title]);
  return (
    <div className="flex min-h-dvh flex-col items-center px-4 pt-[max(32px,12vh)] pb-16">
      <main className={classNames('flex w-full min-w-0 flex-col gap-6', wide ? 'max-w-160' : 'max-w-88')}>
        <p className="flex items-center gap-2">
          <Mark />
          <span className="text-read font-semibold tracking-[-0.01em]">Tollgate</span>
        </p>
        <header className="flex flex-col gap-1">
          <h1 className="text-title font-semibold tracking-[-0.01em]">{title}</h1>
          {lead && <div className="text-read text-ink-2">{lead}</div>}
        </header>
        {children}
      </main>
      <Toasts />
    </div>
  );
}
