/**
 * Assembles the storage of what calls say: the recorder of content, the cache of answers, and the deletion of what
 * expired.
 */

import { type AnswerCache, createAnswerCache } from '../call/cache/answer-cache.ts';
import { keepsBodies, oldestUsableMs } from '../call/cache/cache-use.ts';
import { type ContentRecorder, createContentRecorder } from '../call/content/content-recorder.ts';
import { startSweeping } from '../call/idempotency/idempotency.ts';
import type { Defaults } from '../config/config.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { CacheCutoff } from '../store/ports/cache/answer-cache.ts';
import type { ContentCutoff } from '../store/ports/content.ts';
import type { StoredWorkspace } from '../store/ports/records.ts';
import type { Store } from '../store/ports/store.ts';
import type { Log } from '../telemetry/log.ts';

export interface Content {
  /** What calls need of it. */
  readonly deps: { readonly content: ContentRecorder; readonly cache: AnswerCache };
  /** Starts deleting what expired. `settings`: as configured now. */
  startSweeping(directory: Pick<KeyDirectory, 'workspaces'>, settings: () => SweepSettings): void;
  close(): void;
}

export interface SweepSettings {
  readonly defaults: Pick<Defaults, 'retentionDays' | 'logBodies'>;
}

const DAY_MS = 86_400_000;

export function openContent(
  { content, answerCache }: Pick<Store, 'content' | 'answerCache'>,
  log: Pick<Log, 'warn'>,
): Content {
  const stops: (() => void)[] = [];
  return {
    deps: {
      content: createContentRecorder(content, (dropped, cause) =>
        log.warn({ dropped, cause }, 'prompts and responses were not stored; the requests themselves are not affected'),
      ),
      cache: createAnswerCache(answerCache, (failed, cause) =>
        log.warn(
          { failed, cause },
          'answers could not be cached or read from the cache; providers answer the requests',
        ),
      ),
    },
    startSweeping({ workspaces }, settings) {
      const sweepContent = (nowMs: number) =>
        content.sweep(
          [...workspaces.values()].map((workspace) => contentCutoff(workspace, settings(), nowMs)),
          nowMs - settings().defaults.retentionDays * DAY_MS,
        );
      const sweepAnswers = (nowMs: number) =>
        answerCache.sweep([...workspaces.values()].map((workspace) => cacheCutoff(workspace, settings(), nowMs)));
      stops.push(
        startSweeping([{ sweep: sweepContent }], (cause) =>
          log.warn({ cause: String(cause) }, 'expired prompts and responses could not be deleted'),
        ),
        startSweeping([{ sweep: sweepAnswers }], (cause) =>
          log.warn({ cause: String(cause) }, 'expired answers of the cache could not be deleted'),
        ),
      );
    },
    close() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}

function contentCutoff({ id, bodiesDays }: StoredWorkspace, { defaults }: SweepSettings, nowMs: number): ContentCutoff {
  return { workspace: id, beforeMs: nowMs - (bodiesDays ?? defaults.retentionDays) * DAY_MS };
}

/** All answers of a workspace without a cache, or without bodies, have expired. */
function cacheCutoff(
  { id, cache, bodies, bodiesDays }: StoredWorkspace,
  { defaults }: SweepSettings,
  nowMs: number,
): CacheCutoff {
  if (cache === undefined || !keepsBodies(bodies ?? defaults.logBodies)) {
    return { workspace: id, beforeMs: Number.MAX_SAFE_INTEGER };
  }
  return { workspace: id, beforeMs: oldestUsableMs({ ...cache, bodiesDays }, defaults, nowMs) };
}
