/** Owns what a caller is told where what he asks of usage or logs is not answered. */
import { UsageRefusal } from '../store/usage-port.ts';
import { ConsoleFailure } from './console-failure.ts';

/** Resolves as the reading does. @throws ConsoleFailure for a refusal of the reader; other faults as they are. */
export async function orRefuse<Answer>(reading: Promise<Answer>): Promise<Answer> {
  try {
    return await reading;
  } catch (fault) {
    if (!(fault instanceof UsageRefusal)) throw fault;
    if (fault.kind === 'too_wide') throw new ConsoleFailure('invalid', fault.message, { member: 'from', cause: fault });
    throw new ConsoleFailure('store_away', fault.message, { retryAfterSeconds: 5, cause: fault });
  }
}
