/** Defines the dependencies of a call, as the composition root passes them: stores, settings, gauges. */

import type { Capacity } from '../admission/capacity.ts';
import type { Config } from '../config/config.ts';
import type { CallFailure } from '../errors/call-failure.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { OpenSet } from '../lib/open-set.ts';
import type { Sample } from '../lib/trace-context.ts';
import type { ClientProtocolName, UpstreamProtocolName } from '../protocols/names.ts';
import type { ChoiceState } from '../routing/choose/choose.ts';
import type { RoutingState } from '../routing/health/routing-state.ts';
import type { RouteTable } from '../routing/route.ts';
import type { CallRecorder } from '../store/ports/records.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import type { CallLog } from './call-log.ts';
import type { CallObserver } from './call-observer.ts';
import type { ContentRecorder } from './content/content-recorder.ts';
import type { DetachedCalls } from './detached/detached-calls.ts';
import type { Idempotency } from './idempotency/idempotency-run.ts';
import type { BillingDeps } from './money/billing-deps.ts';
import type { KeptReasoning, ReasoningMark } from './plan/kept-reasoning.ts';
import type { ReasoningSeal } from './plan/reasoning-seal.ts';
import type { RefusedMembers } from './plan/refused-members.ts';
import type { StoredState } from './stored/open-stored-state.ts';
import type { UploadSpool } from './upload/upload-body.ts';

/** Replaced as a whole by a reload; a running call keeps the settings it started with. */
export interface Settings {
  readonly config: Config;
  readonly routes: RouteTable;
}

/** A call that the gateway can end with an error to its client. */
export interface Interruptible {
  /** Its client gets a stream. */
  readonly isStream?: boolean;
  interrupt(failure: CallFailure): void;
}

/** The number of events out of the order that their format prescribes. */
export interface ProtocolViolations {
  /** Received from upstreams and passed on, by upstream's format. */
  readonly received: { [protocol in UpstreamProtocolName]: number };
  /** Withheld from clients, by the client's format. */
  readonly withheld: { [protocol in ClientProtocolName]: number };
}

export interface CallDeps {
  settings: Settings;
  readonly directory: KeyDirectory;
  readonly recorder: CallRecorder;
  readonly capacity: Capacity;
  /** Where uploads wait. */
  readonly spool: UploadSpool;
  readonly log: CallLog;
  /** Told of every end, for metrics, traces and the request log. */
  readonly observer: CallObserver;
  /** Which calls are traced; null: none, and a client's trace is only passed on. */
  readonly sampleTrace: Sample | null;
  /** Calls that wait for upstream or receive its answer; each is interrupted with a failure at the end of a drain. */
  readonly openCalls: OpenSet<Interruptible>;
  /** Identifies the provider of reasoning that a client sends back in a history. */
  readonly reasoningMark: ReasoningMark;
  /** Seals and opens reasoning that Responses clients carry. */
  readonly reasoningSeal: ReasoningSeal;
  readonly keptReasoning: KeptReasoning;
  /** Members of translated requests that upstreams do not know. */
  readonly refusedMembers: RefusedMembers;
  readonly idempotency: Idempotency;
  readonly storedState: StoredState;
  /** Follows what goes on at providers without its client. */
  readonly detached: DetachedCalls;
  readonly billing: BillingDeps;
  /** The states of targets and credentials. */
  readonly routing: RoutingState;
  /** What the choice among targets has learned. */
  readonly choice: ChoiceState;
  readonly content: ContentRecorder;
  /** The rules for the texts of requests and answers. */
  readonly guardrails: Guardrails;
  readonly cache: AnswerCache;
  readonly protocolViolations: ProtocolViolations;
  /** Calls without a valid key: counted, never recorded. */
  unknownCallers: number;
  /** Whether load balancers may send calls: false from the first stop signal on. */
  ready: boolean;
  /** No new calls are accepted. */
  draining: boolean;
}
