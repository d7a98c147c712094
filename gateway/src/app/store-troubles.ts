/** Logs what keeps the store from working, and remembers it for alerts. */
import type { ObservedTrouble } from '../alerts/find-operator.ts';
import type { Log } from '../telemetry/log.ts';

/** More than can happen between two evaluations. */
const REMEMBERED_MAX = 20;
const JOURNAL = 'Requests cannot be recorded and are answered with 503';
const DATABASE = 'The database takes no writes';

export interface StoreTroubles {
  /** Lasting trouble, and the last that has ended. */
  readonly troubles: () => readonly ObservedTrouble[];
  readonly onWritableChange: (failure: Error | null) => void;
  readonly onDatabaseChange: (failure: Error | null) => void;
  readonly onJournalProblem: (problem: string) => void;
  readonly onIngestFault: (cause: unknown) => void;
}

export function watchStore(log: Pick<Log, 'warn' | 'error'>, nowMs: () => number): StoreTroubles {
  let troubles: ObservedTrouble[] = [];
  function note(what: string, failure: Error | null): void {
    const lasting = troubles.find((one) => one.what === what && one.untilMs === null);
    if (failure === null) {
      troubles = troubles.map((one) => (one === lasting ? { ...one, untilMs: nowMs() } : one));
    } else if (lasting === undefined) {
      const begun = { what, cause: failure.message, sinceMs: nowMs(), untilMs: null };
      troubles = [...troubles, begun].slice(-REMEMBERED_MAX);
    }
  }
  return {
    troubles: () => troubles,
    onWritableChange(failure) {
      note(JOURNAL, failure);
      if (failure === null) log.warn('requests are recorded again');
      else log.error({ cause: failure.message }, 'requests cannot be recorded: they are answered with 503');
    },
    onDatabaseChange(failure) {
      note(DATABASE, failure);
      if (failure === null) log.warn('the database takes writes again');
      else
        log.error(
          { cause: failure.message },
          'the database takes no writes: nothing can be changed and no record be read; requests go on',
        );
    },
    onJournalProblem: (problem) => log.error({ problem }, 'a problem of the journal'),
    onIngestFault: (cause) =>
      log.error(
        { cause: String(cause) },
        'the database cannot be brought up to the journal: no record can be read until it can; requests go on',
      ),
  };
}
