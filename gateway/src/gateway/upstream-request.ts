/** Owns what is sent upstream on a same-protocol route: the client's bytes with only the members that must change. Contract, 7. */

import type { OutputLimitMember } from '../protocols/output-limit.ts';
import type { ProtocolName } from '../protocols/protocol.ts';
import type { RequestFacts } from '../protocols/request-facts.ts';
import type { Upstream } from '../providers/upstream.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import { type JsonEdit, spliceJson } from '../wire/json-splice.ts';

/** Whether the usage chunk is asked for by us, and so withheld from the client. */
export function asksForUsage(protocol: ProtocolName, facts: RequestFacts, upstream: Upstream): boolean {
  const takesOption = upstream.kind === 'demo' || upstream.takesUsageOption;
  return protocol === 'chat' && facts.stream && !facts.wantsUsage && takesOption;
}

/** What changes of a body on its way to an upstream of its own format. */
export interface BodyChanges {
  /** The model's name at the upstream. */
  readonly model: string;
  /** Asked for though the client did not. */
  readonly stream: boolean;
  readonly usage: boolean;
  /** The limit that upstream knows, where the client sent two. */
  readonly limitMember: OutputLimitMember;
  /** Members that stay here. */
  readonly drops: readonly string[];
}

/** The body for upstream: the very same bytes where nothing must change. */
export function renderUpstreamBody(outline: JsonOutline, facts: RequestFacts, changes: BodyChanges): Uint8Array {
  const edits: JsonEdit[] = [];
  if (facts.model !== changes.model) edits.push({ set: ['model'], json: JSON.stringify(changes.model) });
  if (changes.stream) edits.push({ set: ['stream'], json: 'true' });
  if (changes.usage) edits.push({ set: ['stream_options', 'include_usage'], json: 'true' });
  for (const name of changes.drops) edits.push({ remove: [name] });
  if (facts.otherLimit !== null) edits.push(...oneLimit(facts, changes.limitMember));
  return edits.length === 0 ? outline.bytes : spliceJson(outline, edits);
}

/** Each host reads another one of two limits, so it gets the one that it knows, with the value that binds. Contract, 10.9. */
function oneLimit({ outputTokensMax }: RequestFacts, known: OutputLimitMember): JsonEdit[] {
  const other = known === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  return [{ set: [known], json: String(outputTokensMax) }, { remove: [other] }];
}

/** Headers that would choose among the operator's own workspaces or say where the caller runs: not the caller's to set upstream. */
const NOT_FORWARDED = new Set([
  'anthropic-version',
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-dangerous-direct-browser-access',
]);

/** What a messages upstream is told where the caller speaks another format: the version that takes the most. */
const TRANSLATED_VERSION = '2023-06-01';

/**
 * The header lines beside our own that upstream sees. A messages upstream: the caller's version, betas and other
 * `anthropic-*` ones, where the caller speaks messages too. Chat has none.
 */
export function forwardedHeaders(
  client: ProtocolName,
  upstream: ProtocolName,
  headers: Headers,
  version: string,
): ReadonlyArray<readonly [string, string]> {
  if (upstream === 'chat') return [];
  if (client === 'chat') return [['anthropic-version', TRANSLATED_VERSION]];
  const forwarded: Array<readonly [string, string]> = [['anthropic-version', version]];
  for (const [name, value] of headers) {
    if (name.startsWith('anthropic-') && !NOT_FORWARDED.has(name)) forwarded.push([name, value]);
  }
  return forwarded;
}
