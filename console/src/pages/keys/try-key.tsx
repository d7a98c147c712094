/** Renders a button that sends a request with a newly created key, and the response with its duration and cost. */
import { Play } from 'lucide-react';
import { useState } from 'react';
import { duration } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';

export function TestKey({ secret, model }: { readonly secret: string; readonly model: string }) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<TestResult | null>(null);

  async function test(): Promise<void> {
    setBusy(true);
    setResult(await sendTestRequest(secret, model));
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

function Result({ result }: { readonly result: TestResult }) {
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

type TestResult =
  | {
      readonly ok: true;
      readonly answer: string;
      readonly durationMs: number;
      /** As reported by the gateway; null when not reported. */
      readonly costUsd: string | null;
      readonly requestId: string | null;
    }
  | {
      readonly ok: false;
      /** 0 when there was no response. */
      readonly status: number;
      readonly message: string;
      readonly durationMs: number;
      readonly requestId: string | null;
    };

const TOKENS_MAX = 256;

/** Sends a short chat completion from the browser. It is charged like every call; nothing is stored. */
async function sendTestRequest(key: string, model: string): Promise<TestResult> {
  const startMs = performance.now();
  const since = () => performance.now() - startMs;
  let response: Response;
  let text: string;
  try {
    response = await fetch('/v1/chat/completions', {
      method: 'POST',
      // Authenticates with the key alone: the session cookie must not reach /v1.
      credentials: 'omit',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        max_tokens: TOKENS_MAX,
        messages: [{ role: 'user', content: 'Say hello in one short sentence.' }],
      }),
    });
    text = await response.text();
  } catch {
    return {
      ok: false,
      status: 0,
      message: 'Can’t reach the gateway. Check that it’s running.',
      durationMs: since(),
      requestId: null,
    };
  }
  const durationMs = since();
  const requestId = response.headers.get('x-request-id');
  const read = readAnswer(text);
  if (!response.ok || read.answer === null) {
    const message =
      read.message ?? `The gateway responded with status ${response.status}, but not with a chat completion.`;
    return { ok: false, status: response.status, message, durationMs, requestId };
  }
  return {
    ok: true,
    answer: read.answer,
    durationMs,
    costUsd: response.headers.get('x-tollgate-cost-usd'),
    requestId,
  };
}

/** The text of a chat completion, or its error message; each null when missing. An empty answer is empty text. */
export function readAnswer(text: string): { answer: string | null; message: string | null } {
  let reply: unknown;
  try {
    reply = JSON.parse(text);
  } catch {
    return { answer: null, message: null };
  }
  const { choices, error } = (reply ?? {}) as {
    choices?: readonly { message?: { content?: unknown } }[];
    error?: { message?: unknown };
  };
  const message = typeof error?.message === 'string' ? error.message : null;
  const choiceMessage = Array.isArray(choices) ? choices[0]?.message : undefined;
  if (choiceMessage === undefined) return { answer: null, message };
  return { answer: typeof choiceMessage.content === 'string' ? choiceMessage.content : '', message };
}
