/**
 * Plans a call to an upstream of the client's own format: forwards the client's bytes and headers, changing only what
 * must change. Contract, 7.
 */
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { OutputLimitMember } from '../../protocols/request/output-limit.ts';
import type { RequestFacts } from '../../protocols/request/request-facts.ts';
import type { PassThrough, StreamObserver, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { Upstream } from '../../providers/provider.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../../wire/json-splice.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { MARK_PREFIX } from './kept-reasoning.ts';
import {
  type Folding,
  type NextAttempt,
  refusesUsageOption,
  type UpstreamCall,
  USAGE_OPTION,
  unknownOption,
} from './upstream-call.ts';

export interface PassThroughPlan {
  readonly client: ClientProtocol;
  readonly upstream: UpstreamProtocol;
  readonly own: PassThrough;
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The name under which upstream knows the output limit. */
  readonly limitMember: OutputLimitMember;
  /** The gateway requests the usage chunk, so it withholds it from the client. */
  readonly asksForUsage: boolean;
  /** Reasoning to remove from the history: only reasoning with our mark, or all of it. */
  readonly strips: 'marked' | 'all';
  readonly requestId: string;
  /** Members that are not sent upstream; reported to the caller. */
  readonly drops: readonly string[];
  /** Upstream streams an answer that the client gets in one piece. */
  readonly folds: boolean;
}

/** Reported if a request has two different limits: the older one is not the one that applies. */
const OLDER_LIMIT: readonly string[] = ['max_tokens'];
const NOTHING: readonly string[] = [];

export function passThrough(plan: PassThroughPlan): UpstreamCall {
  const { upstream, own, outline, facts, model, limitMember, asksForUsage } = plan;
  const body = renderUpstreamBody(outline, facts, {
    model,
    stream: plan.folds,
    usage: asksForUsage,
    limitMember,
    drops: plan.drops,
  });
  const fallbackId = `chatcmpl-${plan.requestId.slice(4)}`;
  return {
    protocol: upstream,
    body: own.stripReasoning === null ? body : withoutReasoning(body, own.stripReasoning, plan.strips),
    translation: null,
    dropped: [
      ...(facts.otherLimit === null || facts.otherLimit === facts.outputTokensMax ? NOTHING : OLDER_LIMIT),
      ...plan.drops,
    ],
    startObserver: (): StreamObserver => own.startObserver({ withholdUsage: asksForUsage, fallbackId }),
    startFolding: plan.folds ? () => foldOwn(plan, fallbackId) : null,
    nextAttemptAfter: (answer) => nextAttemptAfter(plan, answer),
  };
}

/** Keeps all members that upstream sends, known or not. */
function foldOwn({ client, own }: PassThroughPlan, fallbackId: string): Folding {
  const observer = own.startObserver({ withholdUsage: false, fallbackId });
  const fold = own.startFold(fallbackId);
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

/**
 * Reasoning with our mark was never signed by upstream's issuer and would be refused. Skips bodies that cannot contain
 * it.
 */
function withoutReasoning(
  body: Uint8Array,
  stripReasoning: NonNullable<PassThrough['stripReasoning']>,
  strips: 'marked' | 'all',
): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (strips === 'all') return stripReasoning(bytes, () => true);
  return bytes.includes(MARK_PREFIX) ? stripReasoning(bytes, (signature) => signature.startsWith(MARK_PREFIX)) : body;
}

function nextAttemptAfter(plan: PassThroughPlan, answer: CollectedAnswer): NextAttempt | null {
  if (plan.asksForUsage && refusesUsageOption(answer)) {
    const why = 'refuses stream_options.include_usage: sent again without';
    const drops = [...plan.drops, USAGE_OPTION];
    return {
      call: passThrough({ ...plan, asksForUsage: false, drops }),
      why,
      unknown: unknownOption(plan.upstream, answer),
    };
  }
  if (plan.own.stripReasoning === null || plan.strips === 'all' || answer.head.status !== 400) return null;
  if (plan.upstream.readError(answer.body).condition !== 'signature') return null;
  return {
    call: passThrough({ ...plan, strips: 'all' }),
    why: 'refuses a signature in the history: sent again without reasoning',
  };
}

/** Whether the gateway requests the usage chunk, and so withholds it from the client. */
export function asksForUsage(
  { reportsUsageOnRequest }: UpstreamProtocol,
  facts: RequestFacts,
  upstream: Upstream,
): boolean {
  return reportsUsageOnRequest && facts.stream && !facts.wantsUsage && upstream.takesUsageOption;
}

/** Changes to a body for an upstream of the same format. */
interface BodyChanges {
  /** The model's name at the upstream. */
  readonly model: string;
  /** Requested although the client did not. */
  readonly stream: boolean;
  readonly usage: boolean;
  /** The limit that upstream knows, if the client sent two. */
  readonly limitMember: OutputLimitMember;
  /** Members that are not sent. */
  readonly drops: readonly string[];
}

/** The body for upstream: the same bytes if nothing changes. */
function renderUpstreamBody(outline: JsonOutline, facts: RequestFacts, changes: BodyChanges): Uint8Array {
  const edits: JsonEdit[] = [];
  if (facts.model !== changes.model) edits.push({ set: ['model'], json: JSON.stringify(changes.model) });
  if (changes.stream) edits.push({ set: ['stream'], json: 'true' });
  if (changes.usage) edits.push({ set: ['stream_options', 'include_usage'], json: 'true' });
  for (const name of changes.drops) edits.push({ remove: [name] });
  if (facts.otherLimit !== null) edits.push(...oneLimit(facts, changes.limitMember));
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
