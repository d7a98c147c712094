/** Classifies a call by its record: successful, client error, server error, or cancelled by the client. */
import { FAILURE_KINDS, type FailureKind } from '../../../errors/failure-kinds.ts';
import type { CallOutcome } from '../../ports/usage.ts';

const CANCELLED = 'client_left';
const CALLERS: ReadonlySet<string> = new Set(
  (Object.keys(FAILURE_KINDS) as FailureKind[]).filter(
    (kind) => kind !== CANCELLED && FAILURE_KINDS[kind].origin === 'caller',
  ),
);

/** An error that this version does not know counts as a server error. */
export function outcomeOf(status: number, error: string | null): CallOutcome {
  if (error === CANCELLED) return 'cancelled';
  if (error === null) return status < 400 ? 'ok' : status < 500 ? 'client_error' : 'server_error';
  return CALLERS.has(error) ? 'client_error' : 'server_error';
}

const CALLERS_LIST = [...CALLERS].map((kind) => `'${kind}'`).join(', ');

/** The same in SQL, over a record's columns. */
export const OUTCOME_SQL = `CASE WHEN error = '${CANCELLED}' THEN 'cancelled'
  WHEN error IS NULL THEN CASE WHEN status < 400 THEN 'ok' WHEN status < 500 THEN 'client_error' ELSE 'server_error' END
  WHEN error IN (${CALLERS_LIST}) THEN 'client_error' ELSE 'server_error' END`;
