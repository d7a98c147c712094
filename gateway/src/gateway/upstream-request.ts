/** Owns what is sent upstream on a same-protocol route: the client's bytes with only the members that must change. Contract, 7. */

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

/** The body for upstream: the very same bytes where nothing must change. */
export function renderUpstreamBody(
  outline: JsonOutline,
  facts: RequestFacts,
  upstreamModel: string,
  askForUsage: boolean,
): Uint8Array {
  const edits: JsonEdit[] = [];
  if (facts.model !== upstreamModel) edits.push({ set: ['model'], json: JSON.stringify(upstreamModel) });
  if (askForUsage) edits.push({ set: ['stream_options', 'include_usage'], json: 'true' });
  return edits.length === 0 ? outline.bytes : spliceJson(outline, edits);
}

/** Headers that would choose among the operator's own workspaces or say where the caller runs: not the caller's to set upstream. */
const NOT_FORWARDED = new Set([
  'anthropic-version',
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-dangerous-direct-browser-access',
]);

/** The caller's headers that a messages upstream sees: its version, its betas and other `anthropic-*` ones. Chat has none. */
export function forwardedHeaders(
  protocol: ProtocolName,
  headers: Headers,
  version: string,
): ReadonlyArray<readonly [string, string]> {
  if (protocol === 'chat') return [];
  const forwarded: Array<readonly [string, string]> = [['anthropic-version', version]];
  for (const [name, value] of headers) {
    if (name.startsWith('anthropic-') && !NOT_FORWARDED.has(name)) forwarded.push([name, value]);
  }
  return forwarded;
}
