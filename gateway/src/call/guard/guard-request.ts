/**
 * Applies the rules of a workspace to a request before anything else reads it: the route, every target, the cache and what
 * is stored see its texts as the rules leave them. All other bytes stay.
 */
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { hasTokenIds, textsOfRequest } from '../../guardrails/format-texts.ts';
import { cannotCheck } from '../../guardrails/guard-failures.ts';
import type { Guard } from '../../guardrails/guardrails.ts';
import type { HookSubject } from '../../guardrails/hook.ts';
import { type JsonText, spliceTexts, type TextEdit } from '../../guardrails/json-texts.ts';
import type { MaskCounts, SideGuard } from '../../guardrails/side-guard.ts';
import {
  children,
  elements,
  type JsonNode,
  member,
  memberName,
  numberValue,
  OutlineFull,
  stringValue,
} from '../../wire/json-node.ts';
import type { Identified } from '../call.ts';
import { countBytes, type ReadCall, readCall } from '../request/read-body.ts';

/**
 * The request as it goes on. `countOnly`: only its tokens are counted. Throws CallFailure `guardrail_blocked` or
 * `guardrail_unavailable`, and as `readCall` does.
 */
export async function guardRequest(
  call: Identified,
  guard: Guard,
  read: ReadCall,
  countOnly = false,
): Promise<ReadCall> {
  if (guard.answer !== null && !countOnly) refuseUnchecked(guard.answer, call, read);
  const side = guard.request;
  if (side === null) return read;
  const { closedRule } = side;
  if (call.form !== null) {
    if (closedRule === null) return read;
    throw cannotCheck(closedRule, 'request', 'it is a form with a file');
  }
  const { protocol, settings, version, path } = call;
  const { outline, facts } = read;
  if (closedRule !== null && findTexts(() => hasTokenIds(protocol.name, outline.root))) {
    throw cannotCheck(closedRule, 'request', 'it is spelled in token ids');
  }
  const texts = findTexts(() => textsOfRequest(protocol.name, outline.root));
  const checked = texts.map(({ text }) => ({ text, masks: true }));
  const edits = await side.check(checked, subjectOf(call, facts.model), masksOf(call));
  const changes = new Map<JsonText, readonly TextEdit[]>();
  for (const [at, text] of texts.entries()) {
    const own = edits[at] ?? [];
    if (own.length > 0) changes.set(text, own);
  }
  if (changes.size === 0) return read;
  const bytes = spliceTexts(outline, changes);
  if (call.body !== null) countBytes(bytes.length, call.body, settings.config.limits);
  const again = await readCall(bytes, protocol, { limits: settings.config.limits, version, path, countOnly });
  // Where it continues something stored, that is a part of its input.
  const stored = facts.inputBytes - outline.bytes.length;
  const inputBytes = stored > 0 ? again.facts.inputBytes + stored : again.facts.inputBytes;
  return { outline: again.outline, facts: { ...again.facts, inputBytes } };
}

/** Refuses a request whose answer no rule could check. */
function refuseUnchecked(side: SideGuard, { protocol }: Identified, { outline, facts }: ReadCall): void {
  side.requireKnown();
  const { closedRule } = side;
  if (closedRule !== null && facts.below === '/speech') {
    throw cannotCheck(closedRule, 'answer', 'it is sound, and no text');
  }
  if (closedRule !== null && facts.background !== undefined) {
    throw cannotCheck(closedRule, 'answer', 'it runs in the background, where its text stays at the provider');
  }
  const asksForSpelling = protocol.name === 'audio' ? asksForWords : asksForTokens;
  const mayAsk = protocol.translates || protocol.name === 'completions' || protocol.name === 'audio';
  const spelled = mayAsk ? asksForSpelling(outline.root) : null;
  if (spelled === null) return;
  throw invalidRequest(
    `${spelled}: the workspace has guardrails for answers, and token probabilities or single words would spell what they mask; leave it out`,
    spelled,
  );
}

/** The part of a form that asks for each word of a transcription, or for the probabilities of its tokens; null: none. */
function asksForWords(root: JsonNode): string | null {
  const asking = children(root).find((node) => {
    const name = memberName(node).replace(/\[\w*\]$/, '');
    if (name !== 'timestamp_granularities' && name !== 'include') return false;
    return [node, ...elements(node)].some((one) => /\bword\b|logprobs/.test(stringValue(one) ?? ''));
  });
  return asking === undefined ? null : memberName(asking);
}

/** The member that asks for the probabilities of tokens; null: none. */
function asksForTokens(root: JsonNode): string | null {
  const logprobs = member(root, 'logprobs');
  if (logprobs?.kind === 'true' || logprobs?.kind === 'number') return 'logprobs';
  const top = member(root, 'top_logprobs');
  if (top?.kind === 'number' && numberValue(top) !== 0) return 'top_logprobs';
  const config = member(root, 'generationConfig') ?? member(root, 'generation_config');
  if (config !== undefined && member(config, 'responseLogprobs')?.kind === 'true') {
    return 'generationConfig.responseLogprobs';
  }
  const include = member(root, 'include');
  const asks =
    include !== undefined && elements(include).some((one) => stringValue(one)?.endsWith('.logprobs') === true);
  return asks ? 'include' : null;
}

/** How often the rules masked something in the call. */
export function masksOf(call: Identified): MaskCounts {
  call.masked ??= new Map();
  return call.masked;
}

/** Whose texts they are, for hooks. */
export function subjectOf({ principal }: Identified, model: string | null): HookSubject {
  const { account, workspaceId, keyId } = principal;
  return { account: account.id, workspace: workspaceId, key: keyId, model };
}

/** What `find` returns. Throws CallFailure `invalid_request` where a part has too many values to be read. */
export function findTexts<Found>(find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw new CallFailure('invalid_request', `the body cannot be checked: ${error.message}`);
  }
}

/**
 * Refuses what goes to a provider, or comes from it, without any text that could be checked: files, conversations and
 * batches. Throws CallFailure `guardrail_blocked`.
 */
export function refuseUnread(call: Identified, side: 'request' | 'answer', what: string): void {
  const rule = call.deps.guardrails.guardOf(call.principal)?.[side]?.closedRule ?? null;
  if (rule !== null) throw cannotCheck(rule, side, what);
}
