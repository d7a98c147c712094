/** Reads the content of an object at a provider as it comes: no faster than it is used, and never as a whole. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { codingOf, type ResponseHead } from '../../upstream/response-head.ts';
import { failureOf, failureOfStatus, failureOfTransport, retryAfterOf } from '../attempt/upstream-outcome.ts';

/** With more bytes that wait, reading from the provider pauses. */
const WAITING_BYTES_MAX = 1024 * 1024;

/**
 * The bytes of a 200. `open` starts the exchange. Fails with CallFailure: for a 404 `not_found`, for any other status as
 * `failureOfStatus`, `body_too_large` for more than `bytesMax`, and `client_left` for a signal without a failure of its own.
 */
export function readContent(
  open: (listener: ExchangeListener) => UpstreamTap,
  bytesMax: number,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  let tap: UpstreamTap | null = null;
  let left = bytesMax;
  let stop = () => {};
  const release = () => signal.removeEventListener('abort', stop);
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (failure: CallFailure) => {
          release();
          tap?.abort();
          controller.error(failure);
        };
        stop = () => fail(reasonOf(signal));
        signal.addEventListener('abort', stop);
        if (signal.aborted) return stop();
        try {
          tap = open({
            onHead(head) {
              const failure = failureOfHead(head);
              if (failure !== null) fail(failure);
            },
            onBody(span) {
              left -= span.length;
              if (left < 0) return fail(new CallFailure('body_too_large', `the file is larger than ${bytesMax} bytes`));
              controller.enqueue(span);
              if ((controller.desiredSize ?? 0) <= 0) tap?.pause();
            },
            onEnd() {
              release();
              controller.close();
            },
            onFailure: (failure) => fail(failureOfTransport(failure)),
          });
        } catch (cause) {
          fail(failureOf(cause));
        }
      },
      pull: () => tap?.resume(),
      cancel() {
        release();
        tap?.abort();
      },
    },
    { highWaterMark: WAITING_BYTES_MAX, size: (span) => span?.length ?? 0 },
  );
}

/** Null: the content follows. */
function failureOfHead(head: ResponseHead): CallFailure | null {
  if (head.status === 404) return new CallFailure('not_found', 'the provider does not have the file');
  if (head.status !== 200) {
    return failureOfStatus(head.status, retryAfterOf(head), 'the model provider does not give the content of the file');
  }
  const coding = codingOf(head);
  if (coding === 'identity') return null;
  const cause = `content-encoding ${coding}`;
  return new CallFailure('upstream_failed', 'the model provider did not give the content as it is', { cause });
}

/** A client that leaves gives no reason of its own. */
function reasonOf({ reason }: AbortSignal): CallFailure {
  return reason instanceof CallFailure
    ? reason
    : new CallFailure('client_left', 'the client left before its request was read', { cause: reason });
}
