/** Owns the ends of an answer: stop texts and the token limit, applied in the order in which a model would write. */
import { countTokens } from './fingerprint.ts';
import type { Answer, Prompt, ToolCall } from './prompt.ts';

/** An answer before its limits. */
export type Draft = Pick<Answer, 'thinking' | 'text' | 'calls'>;

/**
 * The draft cut to the prompt's limits. Thinking uses up tokens first, then the text, then the calls. A stop text is
 * looked for in the text only. A call that the limit would cut in two is left out: half of its JSON helps no one.
 */
export function limitAnswer(draft: Draft, prompt: Pick<Prompt, 'tokensMax' | 'stops' | 'thinking'>): Answer {
  const tokensMax = prompt.tokensMax ?? Number.MAX_SAFE_INTEGER;
  if (tokensMax === 0) {
    return { thinking: null, text: '', calls: [], end: 'length', stop: null, outputTokens: 0, thinkingTokens: 0 };
  }
  const thought = cutToTokens(draft.thinking ?? '', tokensMax);
  const thinkingTokens = countTokens(thought);
  const stopped = cutAtStop(draft.text, prompt.stops);
  const text = cutToTokens(stopped.text, tokensMax - thinkingTokens);
  const textTokens = countTokens(text);
  const isTextCut = text.length < stopped.text.length || thought.length < (draft.thinking ?? '').length;
  const said = thinkingTokens + textTokens;
  const kept = isTextCut || stopped.stop !== null ? { calls: [], tokens: 0 } : keepCalls(draft.calls, tokensMax - said);
  return {
    thinking: draft.thinking === null ? null : prompt.thinking === 'hidden' ? '' : thought,
    text,
    calls: kept.calls,
    ...chooseEnd(isTextCut, stopped.stop, kept.calls.length, draft.calls.length),
    outputTokens: said + kept.tokens,
    thinkingTokens,
  };
}

function chooseEnd(isCut: boolean, stop: string | null, kept: number, wanted: number): Pick<Answer, 'end' | 'stop'> {
  if (isCut) return { end: 'length', stop: null };
  if (stop !== null) return { end: 'stop', stop };
  if (kept < wanted) return { end: 'length', stop: null };
  return { end: kept > 0 ? 'calls' : 'done', stop: null };
}

/** The text before the stop text that comes first; of two at one place the one that the caller named first. */
function cutAtStop(text: string, stops: readonly string[]): { text: string; stop: string | null } {
  let cut = { text, stop: null as string | null };
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && at < cut.text.length) cut = { text: text.slice(0, at), stop };
  }
  return cut;
}

function cutToTokens(text: string, tokensMax: number): string {
  if (countTokens(text) <= tokensMax) return text;
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character, 'utf8');
    if (bytes > tokensMax * 4) break;
    kept += character;
  }
  return kept;
}

function keepCalls(calls: readonly ToolCall[], tokensMax: number): { calls: readonly ToolCall[]; tokens: number } {
  const kept: ToolCall[] = [];
  let tokens = 0;
  for (const call of calls) {
    const cost = countTokens(call.name) + countTokens(call.arguments);
    if (tokens + cost > tokensMax) break;
    kept.push(call);
    tokens += cost;
  }
  return { calls: kept, tokens };
}
