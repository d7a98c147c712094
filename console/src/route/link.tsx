/** Renders links within the console; the target page is prefetched on hover or focus. */
import type { ComponentProps, MouseEvent } from 'react';
import { type Goal, useGoal } from './route.ts';

type LinkProps = Omit<ComponentProps<'a'>, 'href'> & Goal & { readonly to: string };

export function Link({ to, names, search, onClick, onPointerEnter, onFocus, ...rest }: LinkProps) {
  const { href, go, prefetch } = useGoal({ to, ...(names && { names }), ...(search && { search }) });
  function follow(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event);
    // The browser opens new tabs and windows.
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go();
  }
  return (
    <a
      {...rest}
      href={href}
      onClick={follow}
      onPointerEnter={(event) => {
        prefetch();
        onPointerEnter?.(event);
      }}
      onFocus={(event) => {
        prefetch();
        onFocus?.(event);
      }}
    />
  );
}
