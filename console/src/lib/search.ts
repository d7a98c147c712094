/** Reads and changes the filters in the address. */
import { useNavigate, useSearch } from '../route/route.ts';

/**
 * The search parameters, and a function that changes some (undefined or empty: remove). Replaces the history entry, so
 * that Back leaves the page.
 */
export function useFilters(): readonly [
  Readonly<Record<string, string>>,
  (changes: Readonly<Record<string, string | undefined>>) => void,
] {
  const search = useSearch();
  const navigate = useNavigate();
  const change = (changes: Readonly<Record<string, string | undefined>>) => {
    const next = Object.fromEntries(
      Object.entries({ ...search, ...changes }).filter(([, value]) => value !== undefined && value !== ''),
    );
    navigate({ search: next, replace: true });
  };
  return [search, change];
}
