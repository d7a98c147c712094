/** Owns the end of the members that become nothing: which of their values ask for nothing, which are refused, which dropped. */
import {
  children,
  elements,
  type JsonNode,
  member,
  memberName,
  numberValue,
  stringValue,
} from '../../wire/json-node.ts';
import type { MemberRow } from '../fates.ts';
import { refuseMember } from '../translation-notes.ts';
import { isVoid, type RequestReading } from './read-member.ts';
import { REQUEST_MEMBERS } from './request-members.ts';

const ROWS: ReadonlyMap<string, MemberRow> = new Map(REQUEST_MEMBERS.map((row) => [row.member, row]));

/** Values that ask for what is done anyway. */
const HARMLESS: ReadonlyMap<string, (node: JsonNode) => boolean> = new Map([
  ['n', (node) => numberValue(node) === 1],
  ['top_logprobs', (node) => numberValue(node) === 0],
  [
    'modalities',
    (node) => node.kind === 'array' && elements(node).every((modality) => stringValue(modality) === 'text'),
  ],
]);

/** Goes over the whole top level. Throws CallFailure for a member that is refused. */
export function judgeMembers(root: JsonNode, reading: RequestReading): void {
  for (const node of children(root)) {
    const name = memberName(node);
    const row = ROWS.get(name);
    if (row === undefined) {
      if (node.kind !== 'null')
        reading.notes.drop(name, 'is no member that can be carried to the model behind this name');
    } else if (row.becomes === null && !asksForNothing(name, node)) {
      judge(row, node, reading);
    }
  }
}

function asksForNothing(name: string, node: JsonNode): boolean {
  return isVoid(node) || (HARMLESS.get(name)?.(node) ?? false);
}

function judge(row: MemberRow, node: JsonNode, { notes }: RequestReading): void {
  if (row.fate === 'refused') throw refuseMember(row.member, `${row.note}; leave it out`);
  if (row.member === 'moderation' && blocks(node)) {
    throw refuseMember(
      'moderation',
      'a policy of mode block cannot be kept here, as no moderation is run; use mode score',
    );
  }
  notes.drop(row.member, row.note);
}

function blocks(moderation: JsonNode): boolean {
  const policy = member(moderation, 'policy');
  if (policy === undefined) return false;
  return children(policy).some((side) => {
    const mode = member(side, 'mode');
    return mode !== undefined && stringValue(mode) === 'block';
  });
}
