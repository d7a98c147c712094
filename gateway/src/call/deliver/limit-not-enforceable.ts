/**
 * Creates the failure for a call whose maximum cost is not covered and whose upstream gives no stream that could be
 * stopped.
 */
import { CallFailure } from '../../errors/call-failure.ts';

export function limitNotEnforceable(cause?: string): CallFailure {
  return new CallFailure(
    'quota_exceeded',
    'insufficient quota: the balance or the budget of this API key does not cover this call at its longest, and the model ' +
      'cannot be stopped on the way; lower its maximum of output tokens',
    cause === undefined ? {} : { cause },
  );
}
