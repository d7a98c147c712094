/**
 * Navigates the browser's history, forward and back, unless a page is held. Entries are numbered, so that a blocked
 * step back can be undone.
 */

/** Scroll position to set once the address is shown; null: leave it. */
type Scroll = number | null;

const scrolledPx = new Map<number, number>();
const holders = new Set<object>();
const askers = new Set<() => void>();
let number = 0;
let isReturning = false;
let listener: ((scrollTo: Scroll) => void) | null = null;

/** Called once, before anything navigates. */
export function startHistory(): void {
  number = numberOf(history.state) ?? 0;
  // The browser would restore the position before the page is rendered.
  history.scrollRestoration = 'manual';
  history.replaceState({ ...history.state, number }, '');
}

function numberOf(state: unknown): number | null {
  const found = (state as { number?: unknown } | null)?.number;
  return typeof found === 'number' ? found : null;
}

/** Goes to an address of the console, unless that leaves a held page. `scrollTo`: scroll position of the new page. */
export function walkTo(href: string, { replace, scrollTo }: { readonly replace: boolean; readonly scrollTo: Scroll }) {
  // A page whose address says what is open changes it to close that.
  const stays = replace && new URL(href, location.href).pathname === location.pathname;
  if (holders.size > 0 && !stays) return;
  const from = location.pathname + location.search;
  // As with links: the same address adds no history entry.
  if (replace || href === from) history.replaceState({ ...history.state, number }, '', href);
  else {
    scrolledPx.set(number, scrollY);
    number += 1;
    history.pushState({ number, from }, '', href);
  }
  listener?.(scrollTo);
}

/**
 * Goes back if the user came from the address, else replaces the current entry with it, so that Back returns to
 * neither.
 */
export function returnTo(href: string): void {
  // A step back is asynchronous, so Escape may be pressed again before it completes.
  if (holders.size > 0 || isReturning) return;
  isReturning = (history.state as { from?: unknown } | null)?.from === href;
  if (isReturning) history.back();
  else walkTo(href, { replace: true, scrollTo: null });
}

/** Reports every address that is navigated to. Returns an unsubscribe function. */
export function watchAddress(onAddress: (scrollTo: Scroll) => void): () => void {
  listener = onAddress;
  addEventListener('popstate', onPop);
  return () => {
    listener = null;
    removeEventListener('popstate', onPop);
  };
}

function onPop({ state }: PopStateEvent): void {
  const asker = isReturning ? undefined : [...askers].at(-1);
  isReturning = false;
  const to = numberOf(state);
  if ((holders.size > 0 || asker !== undefined) && to !== null) {
    if (to === number) return;
    history.go(number - to);
    if (holders.size === 0) asker?.();
    return;
  }
  scrolledPx.set(number, scrollY);
  // A jump within the page has no number yet.
  number = to ?? number + 1;
  if (to === null) history.replaceState({ number }, '');
  listener?.(to === null ? null : (scrolledPx.get(to) ?? 0));
}

/**
 * Blocks links and steps back, and makes the browser confirm closing the window, until the returned function is called.
 */
export function holdPage(): () => void {
  return enter(holders, {});
}

/**
 * Calls `ask` in place of a step back or forward, and makes the browser confirm closing the window, until the returned
 * function is called. What the console does itself, such as closing a form that was saved, is not stopped.
 */
export function askBeforeLeaving(ask: () => void): () => void {
  return enter(askers, ask);
}

function enter<Member>(members: Set<Member>, member: Member): () => void {
  const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
  members.add(member);
  addEventListener('beforeunload', onLeave);
  return () => {
    members.delete(member);
    removeEventListener('beforeunload', onLeave);
  };
}
