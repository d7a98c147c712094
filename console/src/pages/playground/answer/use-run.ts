/**
 * Runs one streamed call from the browser: sends it, folds its events, and can stop it. Like any client, it
 * authenticates only with a key. The last run of a place is kept while the console is open.
 */
import { useEffect, useRef, useState } from 'react';
import { type Members, type Message, pathOf } from '../body/call-body.ts';
import { type Answer, EMPTY_ANSWER, foldEvent, type Protocol, startSseReader } from './answer.ts';

/** What a run asks. */
export interface Asked {
  readonly protocol: Protocol;
  readonly model: string;
  readonly body: Members;
  /** The last message of the conversation in it. */
  readonly message: Message;
}

export interface Run {
  readonly asked: Asked;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly answer: Answer;
  readonly requestId: string | null;
  /** Time to the first words, and total time. Null until known. */
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
  /** Error message. */
  readonly failure: string | null;
  readonly promptChars: number;
}

/** Returns the secret of the key that pays. `refused`: the gateway refused this one, so another is needed. */
export type Credential = (refused: string | null) => Promise<string | null>;

interface RunState {
  readonly run: Run | null;
  readonly begin: (credential: Credential, asked: Asked) => void;
  readonly stop: () => void;
  readonly clear: () => void;
}

const kept = new Map<string, Run>();

/** `place`: names the run among those that are kept. */
export function useRun(place: string): RunState {
  const [run, setRun] = useState<Run | null>(kept.get(place) ?? null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  function begin(credential: Credential, asked: Asked): void {
    abort.current?.abort();
    const control = new AbortController();
    abort.current = control;
    const show = (next: Run) => {
      // A replaced run must not update the state.
      if (abort.current !== control) return;
      kept.set(place, next);
      setRun(next);
    };
    void call(credential, asked, control.signal, show);
  }
  function clear(): void {
    abort.current?.abort();
    abort.current = null;
    kept.delete(place);
    setRun(null);
  }
  return { run, begin, stop: () => abort.current?.abort(), clear };
}

async function call(
  credential: Credential,
  asked: Asked,
  signal: AbortSignal,
  show: (run: Run) => void,
): Promise<void> {
  const startMs = performance.now();
  const { protocol } = asked;
  const text = JSON.stringify(asked.body);
  let run: Run = {
    asked,
    state: 'running',
    answer: EMPTY_ANSWER,
    requestId: null,
    firstTokenMs: null,
    totalMs: null,
    failure: null,
    promptChars: text.length,
  };
  const change = (changes: Partial<Run>) => {
    run = { ...run, ...changes };
    show(run);
  };
  const end = (changes: Partial<Run>) => change({ totalMs: performance.now() - startMs, ...changes });
  show(run);
  try {
    const send = (secret: string) =>
      fetch(pathOf(protocol), {
        method: 'POST',
        credentials: 'omit',
        // A person who runs a request wants the model's answer, not the cache's.
        headers: {
          'content-type': 'application/json',
          'x-tollgate-cache': 'off',
          ...credentialHeader(protocol, secret),
        },
        body: text,
        signal,
      });
    const secret = await credential(null);
    if (secret === null) return end({ state: 'failed', failure: 'Enter an API key.' });
    let response = await send(secret);
    const other = response.status === 401 ? await credential(secret) : null;
    if (other !== null) response = await send(other);
    change({ requestId: response.headers.get('x-request-id') });
    if (!response.ok || response.body === null) return end({ state: 'failed', failure: await failureText(response) });
    const reader = startSseReader();
    // Read manually: Safari cannot iterate a stream.
    const source = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await source.read();
      if (done) break;
      const answer = reader.push(value).reduce((known, event) => foldEvent(known, protocol, event), run.answer);
      const isFirst = run.firstTokenMs === null && hasContent(answer);
      change({ answer, ...(isFirst ? { firstTokenMs: performance.now() - startMs } : {}) });
    }
    if (run.answer.error !== null) return end({ state: 'failed', failure: run.answer.error });
    if (!run.answer.isComplete) return end({ state: 'failed', failure: 'The stream ended early.' });
    end({ state: 'done' });
  } catch (cause) {
    if (signal.aborted) end({ state: 'stopped' });
    else
      end({
        state: 'failed',
        failure:
          cause instanceof TypeError
            ? 'Can’t reach the gateway. Check that it’s running.'
            : cause instanceof Error
              ? cause.message
              : String(cause),
      });
  }
}

function credentialHeader(protocol: Protocol, secret: string): Readonly<Record<string, string>> {
  return protocol === 'messages' ? { 'x-api-key': secret } : { authorization: `Bearer ${secret}` };
}

function hasContent({ text, reasoning, toolCalls }: Answer): boolean {
  return text !== '' || reasoning !== '' || toolCalls.length > 0;
}

async function failureText(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const message: unknown = JSON.parse(text)?.error?.message;
    if (typeof message === 'string') return `${response.status}: ${message}`;
  } catch {
    // The response is not JSON, so it is not from the gateway: show its text.
  }
  return `${response.status}: ${text.slice(0, 300) || 'no error message'}`;
}
