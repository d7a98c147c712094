/** Resolves limits and time limits: the file's values, else the defaults. */
import { parseByteSize, parseDurationMs } from '../lib/quantity.ts';
import type { Timeouts } from '../providers/provider.ts';
import type { Config } from './config.ts';
import type { FileShape, TimeoutsShape } from './file/file-schema.ts';
import { LIMITS, type LimitName, type Limits } from './limits.ts';

const PARSE_DEFAULT = { bytes: parseByteSize, duration: parseDurationMs, count: Number } as const;

/** Every limit as a number, defaults filled in. */
export function resolveLimits(shape: FileShape['limits']): Limits {
  const entries = (Object.keys(LIMITS) as LimitName[]).map((name) => {
    const row = LIMITS[name];
    return [row.member, shape?.[name] ?? PARSE_DEFAULT[row.unit](row.default)];
  });
  return Object.fromEntries(entries) as Limits;
}

/** The time limits of providers that set none. */
export function chooseDefaultTimeouts(limits: Limits): Timeouts {
  return {
    connectMs: limits.connectTimeoutMs,
    firstByteMs: limits.firstByteTimeoutMs,
    firstBytePlainMs: limits.firstBytePlainTimeoutMs,
    idleMs: limits.idleTimeoutMs,
    totalMs: limits.totalTimeoutMs,
  };
}

/** The given time limits, overridden by the file's. */
export function resolveTimeouts(shape: TimeoutsShape | undefined, outer: Timeouts): Timeouts {
  return {
    connectMs: shape?.connect ?? outer.connectMs,
    firstByteMs: shape?.first_byte ?? outer.firstByteMs,
    firstBytePlainMs: shape?.first_byte_plain ?? outer.firstBytePlainMs,
    idleMs: shape?.idle ?? outer.idleMs,
    totalMs: shape?.total ?? outer.totalMs,
  };
}

/** The maximum total time limit, in milliseconds, of all providers and targets. */
export function longestCallMs({
  timeouts,
  providers,
  models,
}: Pick<Config, 'timeouts' | 'providers' | 'models'>): number {
  let longest = timeouts.totalMs;
  for (const provider of providers.values()) {
    longest = Math.max(longest, provider.timeouts?.totalMs ?? 0);
  }
  for (const { targets } of models?.values() ?? []) {
    for (const target of targets) longest = Math.max(longest, target.timeouts?.totalMs ?? 0);
  }
  return longest;
}
