/** Checks requests for speech. Upstream judges members that depend on the model. */
import { children, type JsonNode, type JsonOutline, member, memberName, stringValue } from '../../../wire/json-node.ts';
import { bodyOf, modelOf } from '../../check-members.ts';
import { DIRECT_FACTS } from '../../openai/direct-format.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import { type CheckContext, checkKind, checkText, type RequestFacts, refuse } from '../../request/request-facts.ts';
import { noteVoice, referencesOf, type StoredReference } from '../../stored/stored-references.ts';

/** The content type of each `response_format`. */
const TYPES = new Map([
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/opus'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['wav', 'audio/wav'],
  ['pcm', 'audio/pcm'],
]);
const NO_TOOLS: ReadonlyMap<string, number> = new Map();

/** Throws CallFailure `invalid_request` that names the first invalid member. */
export function checkSpeech(outline: JsonOutline, { limits }: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  const modelNode = modelOf(root);
  const inputNode = member(root, 'input');
  const input = inputNode === undefined ? undefined : stringValue(inputNode);
  if (input === undefined || input === '') throw refuse('input', inputNode ?? null, 'the text to speak');
  const format = member(root, 'stream_format');
  if (format !== undefined) checkKind(format, 'stream_format', ['string', 'null'], 'audio or sse');
  const stream = format !== undefined && stringValue(format) === 'sse';
  const type = TYPES.get(formatOf(root)) ?? 'application/octet-stream';
  const stored: StoredReference[] = [];
  noteVoice(root, 'voice', stored);
  return {
    ...DIRECT_FACTS,
    model: checkText(modelNode, 'model', limits.modelNameMax, 1),
    below: '/speech',
    stream,
    ...(stream ? { sound: type } : { binary: type }),
    inputBytes: outline.bytes.length,
    extras: { mediaInput: false, mediaOutput: true, toolRequests: NO_TOOLS, units: { characters: codePoints(input) } },
    // Its `speed` is that of the voice.
    priced: findPricedMembers(children(root).filter((node) => memberName(node) !== 'speed')),
    stored: referencesOf(stored),
  };
}

function formatOf(root: JsonNode): string {
  const node = member(root, 'response_format');
  return (node === undefined ? undefined : stringValue(node)) ?? 'mp3';
}

/** Speech is priced by the Unicode characters of its text. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
