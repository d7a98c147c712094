/** Judges the top-level members of a request in OpenAI's two formats by the format's table. */
import { children, type JsonNode, member, memberName, stringValue } from '../../wire/json-node.ts';
import { type MemberRow, refuseMember, type TranslationNotes } from '../request/translation-notes.ts';
import { isVoid, UNKNOWN } from './read-member.ts';

const HINT = 'it is only a hint for the cache';

/** The rows of members with one meaning in both formats. */
export const SHARED_MEMBERS: readonly MemberRow[] = [
  { member: 'model', becomes: 'model', fate: null, note: 'as the operator routes it' },
  { member: 'stream', becomes: 'stream', fate: null, note: '' },
  { member: 'tool_choice', becomes: 'tool_choice', fate: null, note: '' },
  { member: 'parallel_tool_calls', becomes: 'parallel_tool_calls', fate: null, note: '' },
  { member: 'temperature', becomes: 'temperature', fate: null, note: '' },
  { member: 'top_p', becomes: 'top_p', fate: null, note: '' },
  { member: 'service_tier', becomes: 'service_tier', fate: null, note: '' },
  { member: 'safety_identifier', becomes: 'end_user', fate: null, note: 'precedes user' },
  { member: 'user', becomes: 'end_user', fate: null, note: 'safety_identifier precedes it if both are set' },
  { member: 'metadata', becomes: null, fate: 'dropped', note: 'the provider does not store it' },
  { member: 'moderation', becomes: null, fate: 'dropped', note: 'no moderation runs; refused in mode block' },
  { member: 'prompt_cache_key', becomes: null, fate: 'dropped', note: HINT },
  { member: 'prompt_cache_options', becomes: null, fate: 'dropped', note: HINT },
  { member: 'prompt_cache_retention', becomes: null, fate: 'dropped', note: HINT },
];

export interface MemberJudge {
  /** Reports the members that are dropped. Throws CallFailure for a refused one. */
  judge(root: JsonNode, notes: TranslationNotes): void;
  /** The first member that no other format can carry; null: none. */
  firstRefused(root: JsonNode): string | null;
}

/** `harmless`: by member, whether a value requests the behavior that applies anyway. */
export function createMemberJudge(
  rows: readonly MemberRow[],
  harmless: Readonly<Record<string, (node: JsonNode) => boolean>>,
): MemberJudge {
  const rowOf: ReadonlyMap<string, MemberRow> = new Map(rows.map((row) => [row.member, row]));
  const asksForNothing = new Map(Object.entries(harmless));
  const isHarmless = (name: string, node: JsonNode) => isVoid(node) || (asksForNothing.get(name)?.(node) ?? false);
  return {
    judge(root, notes) {
      for (const node of children(root)) {
        const name = memberName(node);
        const row = rowOf.get(name);
        if (row === undefined) {
          if (node.kind !== 'null') notes.drop(name, UNKNOWN);
        } else if (row.becomes === null && !isHarmless(name, node)) {
          if (row.fate === 'refused') throw refuseMember(name, `${row.note}; leave it out`);
          if (name === 'moderation') refuseBlocking(node);
          notes.drop(name, row.note);
        }
      }
    },
    firstRefused(root) {
      for (const node of children(root)) {
        const name = memberName(node);
        if (rowOf.get(name)?.fate === 'refused' && !isHarmless(name, node)) return name;
      }
      return null;
    },
  };
}

/** No moderation runs, so only scores can be left out. Throws CallFailure `invalid_request` for a policy that blocks. */
function refuseBlocking(moderation: JsonNode): void {
  const policy = member(moderation, 'policy');
  if (policy === undefined || !children(policy).some(blocks)) return;
  const why = 'a policy of mode block cannot be kept here, as no moderation is run; use mode score';
  throw refuseMember('moderation', why);
}

function blocks(side: JsonNode): boolean {
  const mode = member(side, 'mode');
  return mode !== undefined && stringValue(mode) === 'block';
}
