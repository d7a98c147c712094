/** Renders a button that calls a model with a newly created key, and the result. */
import { Play } from 'lucide-react';
import { useState } from 'react';
import { duration } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { type TestCall, testCall } from './test-call.ts';

export function TryKey({ secret, model }: { readonly secret: string; readonly model: string }) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<TestCall | null>(null);

  async function test(): Promise<void> {
    setBusy(true);
    setResult(await testCall(secret, model));
    setBusy(false);
  }

  return (
    <section aria-label="Test" className="flex flex-col gap-2 rounded-md border border-line px-3 py-2.5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-ink-2">Sends a request to {model}, billed to this key.</p>
        <Button icon={<Play size={14} />} busy={busy} disabled={model === ''} onClick={() => void test()}>
          Test
        </Button>
      </div>
      <div role="status" className="empty:hidden">
        {result !== null && !busy && <Result result={result} />}
      </div>
    </section>
  );
}

function Result({ result }: { readonly result: TestCall }) {
  return (
    <div className="flex flex-col gap-1.5 border-t border-line pt-2.5">
      <div className="figures flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={result.ok ? 'good' : 'bad'}>{result.ok ? 'Succeeded' : `Failed (${result.status})`}</Badge>
        <span>{duration(result.durationMs)}</span>
        {result.ok && <span>{result.costUsd === null ? 'Unknown cost' : `$${result.costUsd}`}</span>}
        {result.requestId !== null && (
          // Opens in a new tab: this page holds a secret that is shown only once.
          <a
            href={`/app/logs/${encodeURIComponent(result.requestId)}`}
            target="_blank"
            rel="noreferrer"
            className="text-accent underline underline-offset-2"
          >
            View log
          </a>
        )}
      </div>
      <p className="text-read break-words whitespace-pre-wrap">
        {result.ok ? result.answer || 'The response is empty.' : result.message}
      </p>
    </div>
  );
}
