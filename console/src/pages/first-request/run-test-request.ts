/**
 * Runs the live test call of setup: a real streamed call with the new key. Returns its result as a message and timings.
 */
import { readChatStream } from './chat-stream.ts';

export interface TestOutcome {
  /** The id in the log; null when the call never reached the gateway. */
  readonly requestId: string | null;
  /** Time to the first word; null when no word arrived. */
  readonly firstWordMs: number | null;
  readonly durationMs: number;
  /** Error message; null on success. */
  readonly error: string | null;
}

const QUESTION = 'Say hello to your new owner in one short sentence.';

/** Calls the server that served the page, whatever public address the snippets name. */
export async function runTestCall(key: string, model: string, onText: (text: string) => void): Promise<TestOutcome> {
  const startMs = performance.now();
  let firstWordMs: number | null = null;
  let requestId: string | null = null;
  const end = (error: string | null): TestOutcome => ({
    requestId,
    firstWordMs,
    durationMs: performance.now() - startMs,
    error,
  });
  try {
    const response = await fetch('/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: QUESTION }] }),
    });
    requestId = response.headers.get('x-request-id');
    if (!response.ok || response.body === null) return end(await refusalOf(response));
    const outcome = await readChatStream(response.body, (text) => {
      firstWordMs ??= performance.now() - startMs;
      onText(text);
    });
    return end(outcome.complete ? null : outcome.error);
  } catch (cause) {
    return end(`the request didn’t reach the gateway (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

async function refusalOf(response: Response): Promise<string> {
  const reply = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
  return `${response.status}: ${reply?.error?.message ?? 'no error message'}`;
}
