/** Owns what the operator chose for all calls: the file's words, else the defaults. */
import {
  DEFAULT_BROKEN_ANSWERS,
  DEFAULT_HOLDS,
  DEFAULT_LOG_BODIES,
  DEFAULT_RETENTION_DAYS,
  DEFAULT_UNPRICED,
  type Defaults,
} from './config.ts';
import type { FileShape } from './file-schema.ts';

/** Every choice, defaults filled in. */
export function resolveDefaults(shape: FileShape['defaults']): Defaults {
  return {
    holds: shape?.holds ?? DEFAULT_HOLDS,
    unpriced: shape?.unpriced ?? DEFAULT_UNPRICED,
    brokenAnswers: shape?.broken_answers ?? DEFAULT_BROKEN_ANSWERS,
    logBodies: shape?.log_bodies ?? DEFAULT_LOG_BODIES,
    retentionDays: shape?.retention ?? DEFAULT_RETENTION_DAYS,
  };
}
