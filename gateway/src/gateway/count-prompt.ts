/** Owns our own count of a request's prompt from its bytes, for whoever has time: it parses the whole body. */
import { CallFailure } from '../errors/call-failure.ts';
import { estimatePromptTokens } from '../generation/estimate-tokens.ts';
import { familyOf } from '../generation/token-families.ts';
import { TRANSLATION_OUTLINE_DEPTH } from '../protocols/codec.ts';
import type { ProtocolName } from '../protocols/protocol.ts';
import { PROTOCOLS } from '../protocols/registry.ts';
import { startNotes } from '../protocols/translation-notes.ts';
import { scanJson } from '../wire/json-scan.ts';

export interface PromptToCount {
  readonly protocol: ProtocolName;
  /** The model's name at its upstream. */
  readonly model: string;
  /** The body of a request that was checked before. */
  readonly body: Uint8Array;
}

/** The body kept the operator's limits; these are above the greatest that can be configured. */
const LIMITS = { depthMax: 1_000, keysPerObjectMax: 1_000_000, outlineDepth: TRANSLATION_OUTLINE_DEPTH };

/** Tokens of the whole prompt; null: the canonical language cannot tell what it holds. */
export function countPrompt({ protocol, model, body }: PromptToCount): number | null {
  const outline = scanJson(body, LIMITS);
  if (!outline.ok) return null;
  try {
    return estimatePromptTokens(PROTOCOLS[protocol].codec.parseRequest(outline, startNotes(false)), familyOf(model));
  } catch (error) {
    if (error instanceof CallFailure) return null;
    throw error;
  }
}
