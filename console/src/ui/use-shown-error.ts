/** Hides the error of a field once its value changes, until the form is sent again or another error arrives. */
import { type RefObject, useEffect, useState } from 'react';

export function useShownError(
  error: string | null,
  frame: RefObject<HTMLElement | null>,
): { readonly error: string | null; readonly noteChange: () => void } {
  const [known, setKnown] = useState(error);
  const [isCorrected, setCorrected] = useState(false);
  if (known !== error) {
    setKnown(error);
    setCorrected(false);
  }
  useEffect(() => {
    const form = frame.current?.closest('form');
    const onSubmit = () => setCorrected(false);
    form?.addEventListener('submit', onSubmit, true);
    return () => form?.removeEventListener('submit', onSubmit, true);
  }, [frame]);
  return {
    error: isCorrected ? null : error,
    noteChange: () => {
      if (error !== null) setCorrected(true);
    },
  };
}
