/** Debounces a value while the user types. */
import { useEffect, useState } from 'react';

const REST_MS = 250;

/** The value once it has been unchanged for a quarter of a second. */
export function useDebounced(value: string): string {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), REST_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
