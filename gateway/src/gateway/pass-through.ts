/** Owns sending a call to an upstream of the client's own format: the client's bytes, with only what must change. Contract, 7. */

import { stripThinking } from '../protocols/messages/strip-thinking.ts';
import type { OutputLimitMember } from '../protocols/output-limit.ts';
import type { Protocol, StreamObserver } from '../protocols/protocol.ts';
import type { RequestFacts } from '../protocols/request-facts.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { CollectedAnswer } from './collect-answer.ts';
import { MARK_PREFIX } from './reasoning-mark.ts';
import {
  type Folding,
  type Instead,
  refusesUsageOption,
  type UpstreamCall,
  USAGE_OPTION,
  unknownOption,
} from './upstream-call.ts';
import { renderUpstreamBody } from './upstream-request.ts';

export interface PassThroughPlan {
  readonly protocol: Protocol;
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The output limit that the upstream knows. */
  readonly limitMember: OutputLimitMember;
  /** The usage chunk is asked for by us, and so withheld from the client. */
  readonly asksForUsage: boolean;
  /** Reasoning that is taken out of the history: what only we marked, or all of it. */
  readonly strips: 'marked' | 'all';
  readonly requestId: string;
  /** Members that do not go upstream; told to the caller. */
  readonly drops: readonly string[];
  /** Upstream is to stream what the client gets in one piece. */
  readonly folds: boolean;
}

/** Told where the two limits of a request differ: the older one asked for something else than what binds. */
const OLDER_LIMIT: readonly string[] = ['max_tokens'];
const NOTHING: readonly string[] = [];

export function passThrough(plan: PassThroughPlan): UpstreamCall {
  const { protocol, outline, facts, model, limitMember, asksForUsage } = plan;
  const body = renderUpstreamBody(outline, facts, {
    model,
    stream: plan.folds,
    usage: asksForUsage,
    limitMember,
    drops: plan.drops,
  });
  const fallbackId = `chatcmpl-${plan.requestId.slice(4)}`;
  return {
    protocol,
    body: protocol.name === 'messages' ? withoutThinking(body, plan.strips) : body,
    translation: null,
    dropped: [
      ...(facts.otherLimit === null || facts.otherLimit === facts.outputTokensMax ? NOTHING : OLDER_LIMIT),
      ...plan.drops,
    ],
    startObserver: (): StreamObserver => protocol.startObserver({ withholdUsage: asksForUsage, fallbackId }),
    startFolding: plan.folds ? () => foldOwn(protocol, fallbackId) : null,
    insteadAfter: (answer) => insteadAfter(plan, answer),
  };
}

/** All members that upstream sends come along, known here or not. */
function foldOwn(protocol: Protocol, fallbackId: string): Folding {
  const observer = protocol.startObserver({ withholdUsage: false, fallbackId });
  const fold = protocol.startFold(fallbackId);
  return {
    observer,
    take: (record) => fold.push(record),
    finish(cut) {
      const { finish_reason } = observer.facts();
      return {
        json: fold.finish(cut),
        finish_reason: cut === null ? finish_reason : (finish_reason ?? protocol.cutReason),
        dropped: [],
      };
    },
  };
}

/** What bears our mark was never signed by upstream's issuer, and would be refused. Looked for only where it can be. */
function withoutThinking(body: Uint8Array, strips: 'marked' | 'all'): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (strips === 'all') return stripThinking(bytes, () => true);
  return bytes.includes(MARK_PREFIX) ? stripThinking(bytes, (signature) => signature.startsWith(MARK_PREFIX)) : body;
}

function insteadAfter(plan: PassThroughPlan, answer: CollectedAnswer): Instead | null {
  if (plan.asksForUsage && refusesUsageOption(answer)) {
    const why = 'refuses stream_options.include_usage: sent again without';
    const drops = [...plan.drops, USAGE_OPTION];
    return {
      call: passThrough({ ...plan, asksForUsage: false, drops }),
      why,
      unknown: unknownOption(plan.protocol, answer),
    };
  }
  if (plan.protocol.name !== 'messages' || plan.strips === 'all' || answer.head.status !== 400) return null;
  if (plan.protocol.codec.readError(answer.body).condition !== 'signature') return null;
  return {
    call: passThrough({ ...plan, strips: 'all' }),
    why: 'refuses a signature in the history: sent again without reasoning',
  };
}
