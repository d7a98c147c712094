/** Owns the live test call of set-up: a real streamed call with the new key, and what came of it in words and times. */
import { readChatStream } from './chat-stream.ts';

export interface TestOutcome {
  /** Under which the log has it; null: it never reached the gateway. */
  readonly requestId: string | null;
  /** To the first word; null: none came. */
  readonly firstWordMs: number | null;
  readonly durationMs: number;
  /** What went wrong; null: nothing. */
  readonly error: string | null;
}

const QUESTION = 'Say hello to your new owner in one short sentence.';

/** Goes to the server that the page came from, whatever public address snippets name. */
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
    return end(`the call did not get through (${cause instanceof Error ? cause.message : String(cause)})`);
  }
}

async function refusalOf(response: Response): Promise<string> {
  const reply = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
  return `${response.status}: ${reply?.error?.message ?? 'the gateway gave no reason'}`;
}
