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

/** The body for upstream: the very same bytes where nothing must change. `asks`: for what the client did not ask. */
export function renderUpstreamBody(
  outline: JsonOutline,
  facts: RequestFacts,
  upstreamModel: string,
  asks: { readonly stream: boolean; readonly usage: boolean },
): Uint8Array {
  const edits: JsonEdit[] = [];
  if (facts.model !== upstreamModel) edits.push({ set: ['model'], json: JSON.stringify(upstreamModel) });
  if (asks.stream) edits.push({ set: ['stream'], json: 'true' });
  if (asks.usage) edits.push({ set: ['stream_options', 'include_usage'], json: 'true' });
  return edits.length === 0 ? outline.bytes : spliceJson(outline, edits);
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
