/** Owns the filters in the address: read as text, changed one by one. */
import { useNavigate, useSearch } from '../route/route.ts';

/** The members of the address, and how to change some (undefined or empty: taken away). Replaces, so that Back leaves the page. */
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
