/**
 * Reads recorded answers of Gemini a second, independent way: what a client must be shown, and the tokens to bill. Uses no
 * product code.
 */
import { type Recording, recordingBytes } from '../../fake-upstream/recording.ts';
import { chunksOf, type Json, list, object, textRecords } from '../wire-text.ts';

/** Finish reasons after which there is no answer. */
const FAILED = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE'];
const REFUSED = ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'MODEL_ARMOR'];

export interface ExpectedAnswer {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: ReadonlyArray<readonly [name: string, args: unknown]>;
  readonly finish: 'stop' | 'length' | 'refusal' | 'failed';
  /** Null: nothing was counted. */
  readonly usage: {
    readonly input: number;
    readonly cache_read: number;
    readonly output: number;
    readonly reasoning: number;
  } | null;
  readonly searches: number;
  /** The addresses of the pages that the text cites, in order. */
  readonly cited: readonly string[];
}

/** Whether the recording is a stream by its bytes. */
export function isStream(recording: Recording): boolean {
  return recording.stream && recording.response.body_encoding !== 'json-array-stream';
}

export function expectedOf(recording: Recording): ExpectedAnswer {
  const body = new TextDecoder().decode(recordingBytes(recording));
  const chunks = isStream(recording) ? chunksOf(textRecords(body)) : [JSON.parse(body)].flat();
  const candidates = chunks.flatMap((chunk: Json) => list(chunk.candidates).map((one) => object(one) ?? {}));
  const parts = candidates.flatMap(({ content }) => list(object(content)?.parts).map((part) => object(part) ?? {}));
  const textOf = (thought: boolean) =>
    parts
      .map((part) => (typeof part.text === 'string' && (part.thought === true) === thought ? part.text : ''))
      .join('');
  const text = textOf(false);
  return {
    text,
    thoughts: textOf(true),
    calls: callsIn(parts),
    finish: finishOf(candidates, chunks),
    usage: usageIn(chunks),
    cited: citedIn(candidates, text),
    searches: candidates.reduce((most, { groundingMetadata }) => {
      return Math.max(most, list(object(groundingMetadata)?.webSearchQueries).length);
    }, 0),
  };
}

function citedIn(candidates: readonly Json[], text: string): string[] {
  const groundings = candidates.map(({ groundingMetadata }) => object(groundingMetadata) ?? {});
  const { groundingChunks, groundingSupports } =
    groundings.findLast((one) => one.groundingSupports !== undefined) ?? {};
  const pages = list(groundingChunks).map((chunk) => object(object(chunk)?.web)?.uri);
  return list(groundingSupports).flatMap((support) => {
    const words = object(object(support)?.segment)?.text;
    const indices = text.includes(String(words)) ? list(object(support)?.groundingChunkIndices) : [];
    return indices.flatMap((index) => (typeof pages[Number(index)] === 'string' ? [String(pages[Number(index)])] : []));
  });
}

/** The calls; of those in pieces only the name, and the pieces of text joined. */
function callsIn(parts: readonly Json[]): Array<readonly [string, unknown]> {
  const calls: Array<[string, unknown]> = [];
  for (const { functionCall } of parts) {
    const call = object(functionCall) ?? {};
    if (typeof call.name === 'string')
      calls.push([call.name, call.willContinue === true ? 'in pieces' : (call.args ?? {})]);
  }
  return calls;
}

function finishOf(candidates: readonly Json[], chunks: readonly Json[]): ExpectedAnswer['finish'] {
  const reason = candidates.map(({ finishReason }) => finishReason).findLast((one) => one !== undefined);
  if (FAILED.includes(String(reason))) return 'failed';
  const blocked = chunks.some(({ promptFeedback }) => object(promptFeedback)?.blockReason !== undefined);
  if (REFUSED.includes(String(reason)) || (blocked && candidates.length === 0)) return 'refusal';
  return reason === 'MAX_TOKENS' || reason === 2 ? 'length' : 'stop';
}

/** The last value of each counter that is there; output never below the largest. */
function usageIn(chunks: readonly Json[]): ExpectedAnswer['usage'] {
  const usages = chunks.map(({ usageMetadata }) => object(usageMetadata) ?? {});
  const counts = (name: string) => usages.flatMap((usage) => (typeof usage[name] === 'number' ? [usage[name]] : []));
  const last = (name: string) => counts(name).at(-1) ?? 0;
  const most = (name: string) => Math.max(0, ...counts(name));
  const main = ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'];
  if (main.every((name) => counts(name).length === 0)) return null;
  const cache_read = last('cachedContentTokenCount');
  const reasoning = most('thoughtsTokenCount');
  return {
    input: last('promptTokenCount') + last('toolUsePromptTokenCount') - cache_read,
    cache_read,
    output: most('candidatesTokenCount') + reasoning,
    reasoning,
  };
}
