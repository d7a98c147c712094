/**
 * Assembles the storage of call content: the recorder for the call pipeline, and the deletion of expired content.
 */

import { type ContentRecorder, createContentRecorder } from '../call/content/content-recorder.ts';
import { startSweeping } from '../call/idempotency/idempotency.ts';
import type { Defaults } from '../config/config.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { ContentStore } from '../store/ports/content.ts';
import type { Log } from '../telemetry/log.ts';

export interface Content {
  readonly recorder: ContentRecorder;
  /** Starts deleting expired content. `settings`: as configured now. */
  startSweeping(directory: Pick<KeyDirectory, 'workspaces'>, settings: () => SweepSettings): void;
  close(): void;
}

export interface SweepSettings {
  readonly defaults: Pick<Defaults, 'retentionDays'>;
}

const DAY_MS = 86_400_000;

export function openContent(store: ContentStore, log: Pick<Log, 'warn'>): Content {
  let stopSweeping: () => void = () => undefined;
  return {
    recorder: createContentRecorder(store, (dropped, cause) =>
      log.warn({ dropped, cause }, 'prompts and responses were not stored; the requests themselves are not affected'),
    ),
    startSweeping(directory, settings) {
      const sweep = (nowMs: number) => {
        const { defaults } = settings();
        const cutoffs = [...directory.workspaces.values()].map(({ id, bodiesDays }) => ({
          workspace: id,
          beforeMs: nowMs - (bodiesDays ?? defaults.retentionDays) * DAY_MS,
        }));
        return store.sweep(cutoffs);
      };
      stopSweeping = startSweeping([{ sweep }], (cause) =>
        log.warn({ cause: String(cause) }, 'expired prompts and responses could not be deleted'),
      );
    },
    close: () => stopSweeping(),
  };
}
