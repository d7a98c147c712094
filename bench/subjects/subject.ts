/** Owns the shape of what is measured: how it is started, and how it is called. */
import type { Group } from '../process/start-group.ts';
import type { Protocol } from '../protocol.ts';

/** Of Tollgate's, `c` is chat and `m` messages: what its client speaks, then its upstream. `tollgate` has chat on both sides. */
export type SubjectName =
  | 'direct'
  | 'bare'
  | 'bare-keyed'
  | 'tollgate'
  | 'tollgate-c2m'
  | 'tollgate-m2m'
  | 'tollgate-m2c'
  | 'nginx'
  | 'portkey';

/** What every subject is given. */
export interface SubjectSetting {
  /** Port of the upstream on 127.0.0.1. */
  readonly upstreamPort: number;
  /** An empty folder of the subject's own, removed at the end. */
  readonly scratchDir: string;
  /** The launcher of the Tollgate that is measured; absolute. */
  readonly tollgateCommand: string;
}

/** A subject that serves. */
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
  /** What its clients speak. */
  readonly protocol: Protocol;
  /** Path of a GET that the thread which serves its calls answers by itself and at once; null: it has none. */
  readonly probePath: string | null;
  /** Resolves when it accepts calls. Throws SubjectUnavailable where it cannot run on this machine. */
  start(setting: SubjectSetting): Promise<RunningSubject>;
}

/** The subject is missing here: the bench goes on without it and prints the message. */
export class SubjectUnavailable extends Error {
  override readonly name = 'SubjectUnavailable';
}

/** How long a subject may take to start. */
export const START_TIMEOUT_MS = 15_000;
