/** Reads one stream as it arrives and counts its words. */
import { eventually } from '../harness/eventually.ts';
import { type Address, post, type Side } from '../http-contract/calls.ts';

export interface StreamedClient {
  /** Known from the first word on. */
  readonly requestId: string;
  /** Everything received so far. */
  text(): string;
  /** Resolves once `count` words have arrived; rejects if the stream ended before. */
  words(count: number): Promise<void>;
  /** Resolves with the whole stream; rejects if it has not ended after PATIENCE_MS. */
  end(): Promise<string>;
}

const PATIENCE_MS = 4_000;

/** Sends the call; its answer begins with the first word. An answer of another status than 200 fails what waits for it. */
export function openStreamed(address: Address, side: Side, body: object): StreamedClient {
  let requestId = '';
  let text = '';
  let ended = false;
  let problem: Error | null = null;
  let wake = Promise.withResolvers<void>();
  const read = async (): Promise<void> => {
    const response = await post(address, side, body);
    if (response.status !== 200 || response.body === null) {
      throw new Error(`${response.status}: ${await response.text()}`);
    }
    requestId = response.headers.get('x-request-id') ?? '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      wake.resolve();
      wake = Promise.withResolvers();
    }
  };
  const check = (): void => {
    if (problem !== null) throw problem;
  };
  read()
    .catch((cause: unknown) => {
      problem = cause instanceof Error ? cause : new Error(String(cause));
    })
    .finally(() => {
      ended = true;
      wake.resolve();
    });
  return {
    get requestId() {
      return requestId;
    },
    text: () => text,
    async end() {
      await eventually('the end of the stream', () => (ended ? true : null), PATIENCE_MS);
      check();
      return text;
    },
    async words(count) {
      while (wordsIn(text) < count) {
        check();
        if (ended) throw new Error(`the stream ended after ${wordsIn(text)} words of ${count}: ${text.slice(-300)}`);
        await wake.promise;
      }
    },
  };
}

/** Counts the gated upstream's words in a text with deltas of either format. */
export function wordsIn(text: string): number {
  return text.split('"tok "').length - 1;
}
