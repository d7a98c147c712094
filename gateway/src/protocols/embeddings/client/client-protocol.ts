/** Assembles the half of the embeddings format that clients use, and checks its requests. */
import { children, type JsonOutline, member } from '../../../wire/json-node.ts';
import { bodyOf, modelOf } from '../../check-members.ts';
import type { DirectClient } from '../../client-protocol.ts';
import { DIRECT_CLIENT, DIRECT_FACTS } from '../../openai/direct-format.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkKind,
  checkText,
  type RequestFacts,
  readEndUser,
} from '../../request/request-facts.ts';
import { countTokenIds, inputOf } from '../shared/read-input.ts';

/** Tokens are estimated from bytes by this ratio. */
const BYTES_PER_TOKEN_ID = 4;

/**
 * Upstream judges what depends on its model. Throws CallFailure `invalid_request` that names the first invalid member.
 */
function checkRequest(outline: JsonOutline, { limits }: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  const modelNode = modelOf(root);
  const tokenIds = countTokenIds(inputOf(outline));
  const encoding = member(root, 'encoding_format');
  if (encoding !== undefined) checkKind(encoding, 'encoding_format', ['string', 'null'], 'float or base64');
  const dimensions = member(root, 'dimensions');
  if (dimensions !== undefined) checkKind(dimensions, 'dimensions', ['number', 'null'], 'an integer');
  const user = member(root, 'user');
  if (user !== undefined && user.kind !== 'null') checkText(user, 'user', limits.modelNameMax);
  return {
    ...DIRECT_FACTS,
    model: checkText(modelNode, 'model', limits.modelNameMax, 1),
    endUser: readEndUser(root, ['user']),
    inputBytes: tokenIds > 0 ? tokenIds * BYTES_PER_TOKEN_ID : outline.bytes.length,
    outputTokensMax: 0,
    priced: findPricedMembers(children(root)),
  };
}

export const embeddingsClient: DirectClient = {
  ...DIRECT_CLIENT,
  name: 'embeddings',
  endpoints: [{ path: '/embeddings', countOnly: false }],
  checkRequest,
};
