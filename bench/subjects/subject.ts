/** Defines subjects: how each is started and called. */
import type { Group } from '../process/start-group.ts';
import type { Protocol } from '../protocol.ts';

/**
 * In Tollgate's variants, `c` is chat, `m` messages and `r` Responses: first the client's format, then the upstream's. `tollgate` has
 * chat on both sides, and so have `tollgate-silent`, without a log line per request, and `tollgate-two`, with a second target.
 */
export type SubjectName =
  | 'direct'
  | 'bare'
  | 'bare-keyed'
  | 'tollgate'
  | 'tollgate-silent'
  | 'tollgate-two'
  | 'tollgate-c2m'
  | 'tollgate-m2m'
  | 'tollgate-m2c'
  | 'tollgate-r2r'
  | 'nginx'
  | 'portkey'
  | 'litellm';

/** The settings given to every subject. */
export interface SubjectSetting {
  /** Port of the upstream on 127.0.0.1. */
  readonly upstreamPort: number;
  /** An empty folder for this subject, removed at the end. */
  readonly scratchDir: string;
  /** Absolute path of the launcher of the measured Tollgate. */
  readonly tollgateCommand: string;
}

/** A running subject. */
export interface RunningSubject {
  readonly group: Group;
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Credential and routing headers of each call. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Subject {
  readonly name: SubjectName;
  readonly title: string;
  /** The format of its clients. */
  readonly protocol: Protocol;
  /** Resolves when it accepts calls. Throws SubjectUnavailable when it cannot run on this machine. */
  start(setting: SubjectSetting): Promise<RunningSubject>;
}

/** The subject is not available here: the bench continues without it and prints the message. */
export class SubjectUnavailable extends Error {
  override readonly name = 'SubjectUnavailable';
}

/** How long a subject may take to start. */
export const START_TIMEOUT_MS = 15_000;
