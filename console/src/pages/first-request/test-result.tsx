/** Renders the live test call: its text as it arrives, then its timings or its error. */
import { duration } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import type { TestOutcome } from './run-test-request.ts';

interface TestResultProps {
  readonly model: string;
  readonly text: string;
  /** Null while the call is in progress. */
  readonly outcome: TestOutcome | null;
  readonly onAgain: () => void;
}

export function TestResult({ model, text, outcome, onAgain }: TestResultProps) {
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="min-w-0 rounded-md border border-line bg-sunken px-3 py-2.5">
        <p className="text-sm text-ink-3">Response from {model}</p>
        <p className="min-h-5.5 text-read break-words whitespace-pre-wrap">{text}</p>
      </div>
      {outcome !== null && outcome.error === null && (
        <p className="figures text-sm text-ink-2">
          Streamed in {duration(outcome.durationMs)}
          {outcome.firstWordMs !== null && `, first token after ${duration(outcome.firstWordMs)}`}.
        </p>
      )}
      {outcome?.error != null && (
        <>
          <ErrorNote error={new Error(`The test request failed: ${outcome.error}`)} />
          <p>
            <Button onClick={onAgain}>Try again</Button>
          </p>
        </>
      )}
    </div>
  );
}
