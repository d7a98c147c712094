/**
 * Checks the forms of transcriptions and translations, which the gateway reads as an object of their parts: texts, and of
 * each file its name, type, size and seconds. Upstream judges members that depend on the model.
 */
import { invalidRequest } from '../../../errors/call-failure.ts';
import {
  children,
  type JsonNode,
  type JsonOutline,
  member,
  numberValue,
  stringValue,
} from '../../../wire/json-node.ts';
import { requireMember } from '../../check-members.ts';
import { DIRECT_FACTS } from '../../openai/direct-format.ts';
import { readSwitch } from '../../openai/form-values.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import { type CheckContext, checkText, type RequestFacts } from '../../request/request-facts.ts';

const NO_TOOLS: ReadonlyMap<string, number> = new Map();
/** Where the duration of a file is unknown: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
/** Speech has a token for each 100 ms (platform.openai.com/docs/guides/realtime-costs, 2026-11), as recorded. */
const BYTES_OF_A_SECOND = 10 * 4;
const TEXT_FORMATS: ReadonlySet<string> = new Set(['text', 'srt', 'vtt']);

/** `below`: the path. Throws CallFailure `invalid_request` that names the first invalid part. */
export function checkForm(outline: JsonOutline, { limits }: CheckContext, below: string): RequestFacts {
  const { root } = outline;
  const modelNode = requireMember(root, 'model', 'a part with the name of a model');
  const file = member(root, 'file');
  if (file?.kind !== 'object') throw invalidRequest('file: found no file; expected a part with a filename', 'file');
  const seconds = secondsOf(file);
  const format = member(root, 'response_format');
  const isText = format !== undefined && TEXT_FORMATS.has(stringValue(format) ?? '');
  return {
    ...DIRECT_FACTS,
    model: checkText(modelNode, 'model', limits.modelNameMax, 1),
    below,
    stream: readSwitch(member(root, 'stream'), 'stream'),
    ...(isText ? { plainText: true as const } : {}),
    inputBytes: outline.bytes.length + seconds * BYTES_OF_A_SECOND,
    extras: { mediaInput: true, mediaOutput: false, toolRequests: NO_TOOLS, units: seconds === 0 ? {} : { seconds } },
    priced: findPricedMembers(children(root)),
  };
}

/** Whole, rounded up. */
function secondsOf(file: JsonNode): number {
  const read = (name: string) => {
    const node = member(file, name);
    return (node === undefined ? undefined : numberValue(node)) ?? 0;
  };
  return Math.ceil(read('seconds') || read('bytes') / BYTES_PER_SECOND);
}
