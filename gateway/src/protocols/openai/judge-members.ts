/** Judges the top-level members of a request in OpenAI's two formats by the format's table. */
import { children, type JsonNode, member, memberName, stringValue } from '../../wire/json-node.ts';
import { type MemberRow, refuseMember, type TranslationNotes } from '../request/translation-notes.ts';
import { isVoid, UNKNOWN } from './read-member.ts';

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
