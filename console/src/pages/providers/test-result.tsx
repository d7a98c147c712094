/** Renders the result of a test: whether it passed, when, and the answer with what to do about it. */
import { When } from '../../ui/amounts.tsx';

interface TestResultProps {
  readonly ok: boolean;
  readonly message: string;
  /** Null: just now. */
  readonly at: string | null;
}

export function TestResult({ ok, message, at }: TestResultProps) {
  return (
    <>
      <span className={ok ? 'text-green' : 'text-red'}>{ok ? 'Test passed' : 'Test failed'}</span>
      {at !== null && (
        <>
          , <When at={at} />
        </>
      )}
      : {message}
    </>
  );
}
