/**
 * Sends the test request of setup with the new key and reads the streamed chat completion. Returns its result as a
 * message and timings.
 */

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
export async function runTestRequest(key: string, model: string, onText: (text: string) => void): Promise<TestOutcome> {
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

/** The content of one line of the stream. */
type Said = { readonly text: string } | { readonly error: string } | 'end' | null;

type StreamEnd = { readonly complete: true } | { readonly complete: false; readonly error: string };

/** Passes each piece of text to `onText`. A stream without `[DONE]` counts as cut. */
export async function readChatStream(
  body: ReadableStream<Uint8Array>,
  onText: (text: string) => void,
): Promise<StreamEnd> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? `${decoder.decode()}\n` : decoder.decode(value, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const parsed = readLine(line);
      if (parsed === null) continue;
      if (parsed !== 'end' && 'text' in parsed) {
        onText(parsed.text);
        continue;
      }
      await reader.cancel();
      return parsed === 'end' ? { complete: true } : { complete: false, error: parsed.error };
    }
    if (done) return { complete: false, error: 'the stream ended early' };
  }
}

function readLine(line: string): Said {
  if (!line.startsWith('data:')) return null;
  const text = line.slice(5).trim();
  if (text === '[DONE]') return 'end';
  const event = JSON.parse(text) as {
    error?: { message?: string };
    choices?: readonly { delta?: { content?: string | null } }[];
  };
  if (event.error !== undefined) return { error: event.error.message ?? 'the stream ended with an error' };
  const piece = event.choices?.[0]?.delta?.content ?? '';
  return piece === '' ? null : { text: piece };
}
