/** Owns how a call went, by its record: well, the caller's fault, somebody else's, or cancelled by the caller. */
import { FAILURE_KINDS, type FailureKind } from '../../../errors/failure-kinds.ts';
import type { CallOutcome } from '../../ports/usage.ts';

const CANCELLED = 'client_left';
const CALLERS: ReadonlySet<string> = new Set(
  (Object.keys(FAILURE_KINDS) as FailureKind[]).filter(
    (kind) => kind !== CANCELLED && FAILURE_KINDS[kind].origin === 'caller',
  ),
);

/** A failure that this version does not know is nobody's but ours. */
export function outcomeOf(status: number, error: string | null): CallOutcome {
  if (error === CANCELLED) return 'cancelled';
  if (error === null) return status < 400 ? 'ok' : status < 500 ? 'client_error' : 'server_error';
  return CALLERS.has(error) ? 'client_error' : 'server_error';
}

const CALLERS_LIST = [...CALLERS].map((kind) => `'${kind}'`).join(', ');

/** The same in SQL over a record's columns. */
export const OUTCOME_SQL = `CASE WHEN error = '${CANCELLED}' THEN 'cancelled'
  WHEN error IS NULL THEN CASE WHEN status < 400 THEN 'ok' WHEN status < 500 THEN 'client_error' ELSE 'server_error' END
  WHEN error IN (${CALLERS_LIST}) THEN 'client_error' ELSE 'server_error' END`;
