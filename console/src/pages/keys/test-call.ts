/** Sends one real call with a key from the browser; returns its answer, duration and cost. Stores nothing. */

export type TestCall =
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

/** A short chat completion. It is charged like every call. */
export async function testCall(key: string, model: string): Promise<TestCall> {
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
  const said = Array.isArray(choices) ? choices[0]?.message : undefined;
  if (said === undefined) return { answer: null, message };
  return { answer: typeof said.content === 'string' ? said.content : '', message };
}
