/** Uses the rows of stored state; a failing store becomes a failure of the call. */
import { CallFailure } from '../../errors/call-failure.ts';

/** Throws CallFailure `store_unavailable` where the store fails. */
export async function readSafely<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    throw new CallFailure('store_unavailable', 'what is stored cannot be looked up at the moment; try again shortly', {
      retryAfterSeconds: 2,
      cause,
    });
  }
}
