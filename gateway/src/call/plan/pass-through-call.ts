/**
 * Sends a call to an upstream of its client's format: the client's bytes, with only what must change changed (contract, 7);
 * or, in a format that is not translated, the form of the request that the host takes.
 */
import type { Principal } from '../../identity/principal.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { isOwnMark } from '../../protocols/own-marks.ts';
import type { OutputLimitMember, RequestFacts } from '../../protocols/request/request-facts.ts';
import type {
  DirectExchange,
  DirectUpstream,
  PassThrough,
  StreamObserver,
  UpstreamProtocol,
} from '../../protocols/upstream-protocol.ts';
import type { RequestForm } from '../../upstream/request-form.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../wire/json-splice.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { openSummary } from './own-reasoning.ts';
import type { ReasoningSeal } from './reasoning-seal.ts';
import {
  type Folding,
  type NextAttempt,
  refusesUsageOption,
  type UpstreamCall,
  USAGE_OPTION,
  unknownOption,
} from './upstream-call.ts';

interface PassThroughPlan {
  readonly client: ClientProtocol;
  readonly upstream: UpstreamProtocol;
  readonly own: PassThrough;
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The name under which upstream knows the output limit. */
  readonly limitMember: OutputLimitMember | null;
  /** The gateway requests the usage chunk, so it withholds it from the client. */
  readonly asksForUsage: boolean;
  /** Reasoning to remove from the history: only reasoning with our mark, or all of it. */
  readonly strips: 'marked' | 'all';
  /** Opens summaries of the caller's conversations. */
  readonly seal: ReasoningSeal;
  readonly principal: Principal;
  readonly requestId: string;
  /** Members that are not sent upstream; reported to the caller. */
  readonly drops: readonly string[];
  /** Upstream streams an answer that the client gets in one piece. */
  readonly folds: boolean;
  readonly form: RequestForm | null;
  /** Plans a request for a summary, for hosts without the endpoint for compaction; null: another endpoint. */
  readonly summarize: (() => UpstreamCall) | null;
}

/** Reported if a request has two different limits: the older one is not the one that applies. */
const OLDER_LIMIT: readonly string[] = ['max_tokens'];

/** A call whose client and upstream speak the same format. */
export class PassThroughCall implements UpstreamCall {
  readonly protocol: UpstreamProtocol;
  readonly body: Uint8Array;
  readonly below: string | undefined;
  readonly form: RequestForm | null;
  readonly translation = null;
  readonly renderAnswer = null;
  readonly dropped: readonly string[];
  readonly startFolding: (() => Folding) | null;
  readonly #plan: PassThroughPlan;

  constructor(plan: PassThroughPlan) {
    const { facts, drops } = plan;
    const { stripReasoning, writtenMark } = plan.own;
    const whole = renderUpstreamBody(plan);
    const isMarked = stripReasoning !== null && holdsMark(whole, writtenMark);
    const body = isMarked ? withSummaries(plan, whole) : whole;
    this.#plan = plan;
    this.protocol = plan.upstream;
    this.below = facts.below;
    this.form = plan.form;
    this.body = stripReasoning === null ? body : withoutReasoning(body, stripReasoning, plan.strips, isMarked);
    const hasOlderLimit = facts.otherLimit !== null && facts.otherLimit !== facts.outputTokensMax;
    const dropped = hasOlderLimit ? [...OLDER_LIMIT, ...drops] : drops;
    this.dropped = this.body === body || !plan.client.translates ? dropped : [...dropped, plan.client.reasoningMember];
    this.startFolding = plan.folds ? () => foldOwn(plan) : null;
  }

  startObserver(): StreamObserver {
    return observe(this.#plan, this.#plan.asksForUsage);
  }

  nextAttemptAfter(answer: CollectedAnswer): NextAttempt | null {
    return nextAttemptAfter(this.#plan, answer);
  }
}

/** A request in a host's form of a format that is not translated; its answer comes in one piece. */
export class DirectCall implements UpstreamCall {
  readonly protocol: DirectUpstream;
  readonly body: Uint8Array;
  readonly translation = null;
  readonly renderAnswer: DirectExchange['renderAnswer'];
  readonly dropped: readonly string[];
  readonly startFolding = null;

  constructor(protocol: DirectUpstream, { body, renderAnswer }: DirectExchange, dropped: readonly string[]) {
    this.protocol = protocol;
    this.body = body;
    this.dropped = dropped;
    this.renderAnswer = renderAnswer;
  }

  startObserver(): never {
    throw new Error(`${this.protocol.name} has no streams`);
  }

  nextAttemptAfter(): null {
    return null;
  }
}

function observe({ own, upstream, facts, requestId }: PassThroughPlan, withholdUsage: boolean): StreamObserver {
  if (own.startObserver === null) throw new Error(`${upstream.name} has no streams`);
  const { binary, sound } = facts;
  return own.startObserver({ binary, sound, withholdUsage, fallbackId: fallbackIdOf(requestId) });
}

/** The id of chunks that have none. */
function fallbackIdOf(requestId: string): string {
  return `chatcmpl-${requestId.slice(4)}`;
}

/** Keeps all members that upstream sends, known or not. */
function foldOwn(plan: PassThroughPlan): Folding {
  const { client, own } = plan;
  const observer = observe(plan, false);
  if (own.startFold === null) throw new Error(`${plan.upstream.name} does not fold streams`);
  const fold = own.startFold(fallbackIdOf(plan.requestId));
  return {
    observer,
    take: (record) => fold.push(record),
    finish(cut) {
      const { finish_reason } = observer.facts();
      return {
        json: fold.finish(cut),
        finish_reason: cut === null ? finish_reason : (finish_reason ?? client.cutReason),
        dropped: [],
      };
    },
  };
}

/** A text that begins as the gateway's own marks do. */
const OWN_MARKS = '"gw';

/** Whether the body may contain a mark or a seal of ours. */
function holdsMark({ buffer, byteOffset, length }: Uint8Array, writtenMark = OWN_MARKS): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(writtenMark);
}

/** Throws CallFailure `invalid_request` for a summary that was not made for this workspace. */
function withSummaries({ own, seal, principal }: PassThroughPlan, body: Uint8Array): Uint8Array {
  const owner = { account: principal.account.id, workspace: principal.workspaceId };
  return own.expandSummaries?.(body, (sealed, path) => openSummary(seal, owner, sealed, path)) ?? body;
}

/** Reasoning with our mark or seal was never signed by upstream's issuer and would be refused. */
function withoutReasoning(
  body: Uint8Array,
  stripReasoning: NonNullable<PassThrough['stripReasoning']>,
  strips: 'marked' | 'all',
  isMarked: boolean,
): Uint8Array {
  if (strips === 'all') return stripReasoning(body, () => true);
  return isMarked ? stripReasoning(body, isOwnMark) : body;
}

/** Statuses of hosts that lack an endpoint. */
const NO_ENDPOINT: ReadonlySet<number> = new Set([404, 405, 501]);

function nextAttemptAfter(plan: PassThroughPlan, answer: CollectedAnswer): NextAttempt | null {
  const { status } = answer.head;
  if (plan.summarize !== null && NO_ENDPOINT.has(status)) {
    return { call: plan.summarize(), why: `has no endpoint for compaction (HTTP ${status}): asked for a summary` };
  }
  if (plan.asksForUsage && refusesUsageOption(answer)) {
    const why = 'refuses stream_options.include_usage: sent again without';
    const drops = [...plan.drops, USAGE_OPTION];
    return {
      call: new PassThroughCall({ ...plan, asksForUsage: false, drops }),
      why,
      unknownMember: unknownOption(plan.upstream, answer),
    };
  }
  if (plan.own.stripReasoning === null || plan.strips === 'all' || answer.head.status !== 400) return null;
  if (plan.upstream.readError(answer.body, answer.head.headers).condition !== 'signature') return null;
  return {
    call: new PassThroughCall({ ...plan, strips: 'all' }),
    why: 'refuses a signature in the history: sent again without reasoning',
  };
}

/** The body for upstream: the same bytes if nothing changes. */
function renderUpstreamBody(plan: PassThroughPlan): Uint8Array {
  const { outline, facts, model, own } = plan;
  const edits: JsonEdit[] = own.nameModel === undefined ? [] : [...own.nameModel(outline, model)];
  if (own.nameModel === undefined && facts.model !== model) edits.push({ set: ['model'], json: JSON.stringify(model) });
  if (own.nameModel === undefined && plan.folds) edits.push({ set: ['stream'], json: 'true' });
  if (plan.asksForUsage) edits.push({ set: ['stream_options', 'include_usage'], json: 'true' });
  for (const name of plan.drops) edits.push({ remove: [name] });
  if (facts.otherLimit !== null && plan.limitMember !== null) edits.push(...oneLimit(facts, plan.limitMember));
  return edits.length === 0 ? outline.bytes : spliceJson(outline, edits);
}

/**
 * Hosts differ in which of the two limits they read, so each gets the one it knows, with the value that applies.
 * Contract, 10.9.
 */
function oneLimit({ outputTokensMax }: RequestFacts, known: OutputLimitMember): JsonEdit[] {
  const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  return [{ set: [known], json: String(outputTokensMax) }, { remove: [other] }];
}
