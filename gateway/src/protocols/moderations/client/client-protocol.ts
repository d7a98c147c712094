/** Assembles the half of the moderations format that clients use, and checks its requests. */
import { children, elements, type JsonNode, type JsonOutline, member, stringValue } from '../../../wire/json-node.ts';
import { bodyOf, requireMember } from '../../check-members.ts';
import { DEFAULT_MODEL, type DirectClient } from '../../client-protocol.ts';
import { DIRECT_CLIENT, DIRECT_FACTS } from '../../openai/direct-format.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkKind,
  checkText,
  type MediaTally,
  type RequestFacts,
  tallyPart,
} from '../../request/request-facts.ts';

const INPUT = 'a string, an array of strings, or an array of parts';

/** The model may be absent. Throws CallFailure `invalid_request` that names the first invalid member. */
function checkRequest(outline: JsonOutline, { limits }: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  const modelNode = member(root, 'model');
  const isNamed = modelNode !== undefined && modelNode.kind !== 'null';
  const media = checkInput(requireMember(root, 'input', INPUT));
  return {
    ...DIRECT_FACTS,
    model: isNamed ? checkText(modelNode, 'model', limits.modelNameMax, 1) : DEFAULT_MODEL,
    inputBytes: outline.bytes.length - media.bytes,
    mediaParts: media.parts,
    outputTokensMax: 0,
    priced: findPricedMembers(children(root)),
  };
}

/** Checks the input; returns a tally of its images. */
function checkInput(input: JsonNode): MediaTally {
  const media: MediaTally = { bytes: 0, parts: 0 };
  checkKind(input, 'input', ['string', 'array'], INPUT);
  for (const [index, part] of (input.kind === 'array' ? elements(input) : []).entries()) {
    checkKind(part, `input.${index}`, ['string', 'object'], 'a string or a part (an object)');
    const type = part.kind === 'object' ? member(part, 'type') : undefined;
    if (type !== undefined && stringValue(type) === 'image_url') tallyPart(media, part);
  }
  return media;
}

export const moderationsClient: DirectClient = {
  ...DIRECT_CLIENT,
  name: 'moderations',
  endpoints: [{ path: '/moderations', countOnly: false }],
  checkRequest,
};
