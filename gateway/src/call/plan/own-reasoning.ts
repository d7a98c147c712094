/**
 * Gives a translated request the reasoning that its issuer accepts: opens what the client carried sealed, and leaves out
 * what another party signed, marked or sealed. Source: contract, 10.15; wire reference C.5.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import { type Native, type Part, type ReasoningPart, summaryIn, textPart } from '../../generation/part.ts';
import type { GenerationRequest, Turn } from '../../generation/request.ts';
import { SEAL_PREFIX } from '../../protocols/own-marks.ts';
import type { TranslationNotes } from '../../protocols/request/translation-notes.ts';
import type { ReasoningMark } from './kept-reasoning.ts';
import type { ReasoningSeal, SealOwner } from './reasoning-seal.ts';

/** The target of a request, and what decides about its history. */
export interface ReasoningJudge {
  readonly owner: SealOwner;
  /** Its models sign their reasoning and accept each other's signatures. */
  readonly signs: boolean;
  /** Another party signed the history, as far as that is known. */
  readonly isForeign: boolean;
  readonly mark: ReasoningMark;
  readonly seal: ReasoningSeal;
  /** The client's name for reasoning, under which a loss is noted. */
  readonly member: string;
}

export interface JudgedRequest {
  /** The same object if nothing changed. */
  readonly request: GenerationRequest;
  /** Reasoning of another party, which no seal protects, was left out. */
  readonly isStripped: boolean;
}

/** Throws CallFailure `invalid_request` for a summary that cannot be opened; under a strict key for reasoning too. */
export function judgeReasoning(
  request: GenerationRequest,
  judge: ReasoningJudge,
  notes: TranslationNotes,
): JudgedRequest {
  if (!request.turns.some(({ parts }) => parts.some(isJudged))) return { request, isStripped: false };
  let isStripped = false;
  const turns = request.turns.map((turn) => {
    if (!turn.parts.some(isJudged)) return turn;
    const parts = judgeTurn(turn, judge, notes);
    isStripped ||= parts.isStripped;
    return { ...turn, parts: parts.kept };
  });
  return { request: { ...request, turns }, isStripped };
}

function isJudged(part: Part): boolean {
  return part.kind === 'reasoning' || summaryIn(part) !== null;
}

function judgeTurn({ parts, path }: Turn, judge: ReasoningJudge, notes: TranslationNotes) {
  const kept: Part[] = [];
  let isStripped = false;
  let callData: Native | null = null;
  for (const part of parts) {
    const summary = summaryIn(part);
    if (summary !== null) {
      kept.push(textPart(openSummary(judge.seal, judge.owner, summary, path)));
    } else if (part.kind === 'tool_call' && callData !== null) {
      kept.push({ ...part, host_data: callData });
      callData = null;
    } else if (part.kind !== 'reasoning') {
      kept.push(part);
    } else if (part.signature?.startsWith(SEAL_PREFIX)) {
      const content = judge.seal.open(judge.owner, part.signature);
      if (content?.kind === 'reasoning' || content?.kind === 'part') kept.push(content.part);
      else if (content?.kind === 'call_data') callData = content.native;
      else notes.drop(judge.member, 'it was sealed for another workspace, provider or model, or it was changed');
    } else if (isOwn(part, judge)) {
      kept.push(part);
    } else {
      isStripped = true;
    }
  }
  return { kept, isStripped };
}

/**
 * An issuer that signs nothing knows its own by our mark; of the others, the history's issuer is that of the
 * conversation's last answer.
 */
function isOwn({ signature, text }: ReasoningPart, { owner, signs, isForeign, mark }: ReasoningJudge): boolean {
  return signature === null || (signs ? !isForeign : mark.isFrom(owner.issuer, signature, text));
}

/** Any model of the workspace may read a summary. */
export function ownerOfSummary({ account, workspace }: Pick<SealOwner, 'account' | 'workspace'>): SealOwner {
  return { account, workspace, issuer: '', model: '' };
}

/** The text that stands for the conversation. Throws CallFailure `invalid_request`: without it the history is lost. */
export function openSummary(
  seal: ReasoningSeal,
  owner: Pick<SealOwner, 'account' | 'workspace'>,
  sealed: string,
  path: string,
): string {
  const content = seal.open(ownerOfSummary(owner), sealed);
  if (content?.kind === 'summary') return `Summary of the conversation so far: ${content.text}`;
  throw new CallFailure(
    'invalid_request',
    `${path}: found a compaction that was not made for this workspace, or that was changed; send the items that it stands for`,
    { param: path, code: 'invalid_encrypted_content' },
  );
}
