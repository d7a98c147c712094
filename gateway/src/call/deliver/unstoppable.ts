/** Says that a call cannot be paid for at its longest, and that its upstream gives no stream that could be stopped. */
import { CallFailure } from '../../errors/call-failure.ts';

export function unstoppable(cause?: string): CallFailure {
  return new CallFailure(
    'quota_exceeded',
    'insufficient quota: the balance or the budget of this API key does not cover this call at its longest, and the model ' +
      'cannot be stopped on the way; lower its maximum of output tokens',
    cause === undefined ? {} : { cause },
  );
}
