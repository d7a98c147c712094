/**
 * Owns the browser's history as the console walks it: steps to another address, steps back, and who holds the page meanwhile.
 * Knows no page. The entries are numbered, so that a step back which is held can be undone.
 */

/** What the browser is to do with the scroll position once the address is shown; null: nothing. */
type Scroll = number | null;

const scrolledPx = new Map<number, number>();
const holders = new Set<object>();
let number = numberOf(history.state) ?? 0;
let isReturning = false;
let listener: ((scrollTo: Scroll) => void) | null = null;

/** The browser's own guess comes before the page is drawn. */
history.scrollRestoration = 'manual';
history.replaceState({ ...history.state, number }, '');

function numberOf(state: unknown): number | null {
  const found = (state as { number?: unknown } | null)?.number;
  return typeof found === 'number' ? found : null;
}

/** Goes to an address of the console, unless somebody holds the page. `scrollTo`: where the page is then shown. */
export function walkTo(href: string, { replace, scrollTo }: { readonly replace: boolean; readonly scrollTo: Scroll }) {
  if (holders.size > 0) return;
  const from = location.pathname + location.search;
  // As of a link: the same address again is no step.
  if (replace || href === from) history.replaceState({ ...history.state, number }, '', href);
  else {
    scrolledPx.set(number, scrollY);
    number += 1;
    history.pushState({ number, from }, '', href);
  }
  listener?.(scrollTo);
}

/** Goes back to an address where one came from it, else to it in place of this one: Back comes to neither of them again. */
export function returnTo(href: string): void {
  // A step back takes a moment, in which Escape may come again.
  if (holders.size > 0 || isReturning) return;
  isReturning = (history.state as { from?: unknown } | null)?.from === href;
  if (isReturning) history.back();
  else walkTo(href, { replace: true, scrollTo: null });
}

/** Tells of every address that is come to. Answers the end of it. */
export function watchAddress(onAddress: (scrollTo: Scroll) => void): () => void {
  listener = onAddress;
  addEventListener('popstate', onPop);
  return () => {
    listener = null;
    removeEventListener('popstate', onPop);
  };
}

function onPop({ state }: PopStateEvent): void {
  isReturning = false;
  const to = numberOf(state);
  if (holders.size > 0 && to !== null) {
    if (to !== number) history.go(number - to);
    return;
  }
  scrolledPx.set(number, scrollY);
  // A jump within the page has no number yet.
  number = to ?? number + 1;
  if (to === null) history.replaceState({ number }, '');
  listener?.(to === null ? null : (scrolledPx.get(to) ?? 0));
}

/** Until the answer is called, no link, step back or closing of the window leaves the page unasked. */
export function holdPage(): () => void {
  const holder = {};
  holders.add(holder);
  const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', onLeave);
  return () => {
    holders.delete(holder);
    removeEventListener('beforeunload', onLeave);
  };
}
