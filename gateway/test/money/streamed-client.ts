/** Reads one stream as it arrives and counts its words. */
import { eventually } from '../harness/eventually.ts';
import { type Address, post, type Side } from '../http-contract/calls.ts';

export interface StreamedClient {
  readonly requestId: string;
  /** Everything received so far. */
  text(): string;
  /** Resolves once `count` words have arrived; rejects if the stream ended before. */
  words(count: number): Promise<void>;
  /** Resolves with the whole stream; rejects if it has not ended after PATIENCE_MS. */
  end(): Promise<string>;
}

const PATIENCE_MS = 4_000;

/** Sends the call and resolves once its answer has begun. Throws if the status is not 200. */
export async function openStreamed(address: Address, side: Side, body: object): Promise<StreamedClient> {
  const response = await post(address, side, body);
  if (response.status !== 200 || response.body === null)
    throw new Error(`${response.status}: ${await response.text()}`);
  let text = '';
  let ended = false;
  let wake = Promise.withResolvers<void>();
  const read = async (from: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of from) {
      text += decoder.decode(chunk, { stream: true });
      wake.resolve();
      wake = Promise.withResolvers();
    }
    ended = true;
    wake.resolve();
  };
  void read(response.body);
  return {
    requestId: response.headers.get('x-request-id') ?? '',
    text: () => text,
    end: () => eventually('the end of the stream', () => (ended ? text : null), PATIENCE_MS),
    async words(count) {
      while (wordsIn(text) < count) {
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
