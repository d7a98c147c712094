/** Judges the member `moderation` of OpenAI's two formats where no moderation runs. */
import { children, type JsonNode, member, stringValue } from '../../wire/json-node.ts';
import { refuseMember } from '../request/translation-notes.ts';

/** Throws CallFailure `invalid_request` if one of its policies should block; scores can be left out. */
export function refuseBlocking(moderation: JsonNode): void {
  if (!blocks(moderation)) return;
  throw refuseMember(
    'moderation',
    'a policy of mode block cannot be kept here, as no moderation is run; use mode score',
  );
}

function blocks(moderation: JsonNode): boolean {
  const policy = member(moderation, 'policy');
  if (policy === undefined) return false;
  return children(policy).some((side) => {
    const mode = member(side, 'mode');
    return mode !== undefined && stringValue(mode) === 'block';
  });
}
