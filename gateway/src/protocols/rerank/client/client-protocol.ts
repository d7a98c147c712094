/** Assembles the half of the ranking format that clients use (Cohere's, Jina's and Voyage's), and checks its requests. */
import { children, type JsonOutline, member } from '../../../wire/json-node.ts';
import { bodyOf, modelOf, requireMember } from '../../check-members.ts';
import type { DirectClient } from '../../client-protocol.ts';
import { DIRECT_CLIENT, DIRECT_FACTS } from '../../openai/direct-format.ts';
import { findPricedMembers } from '../../request/priced-members.ts';
import {
  type CheckContext,
  checkKind,
  checkText,
  checkType,
  type MemberType,
  type RequestFacts,
} from '../../request/request-facts.ts';
import { documentsOf } from '../shared/read-request.ts';

const LIMIT: MemberType = { type: 'integer', isNullable: true, minimum: 1 };
const FLAG: MemberType = { type: 'boolean', isNullable: true };
const CHECKED: Readonly<Record<string, MemberType>> = { top_n: LIMIT, top_k: LIMIT, return_documents: FLAG };

/** Cohere bills a search for each hundred documents: https://cohere.com/pricing (2026-11). */
const DOCUMENTS_PER_SEARCH = 100;

/** @throws CallFailure `invalid_request` that names the first invalid member. */
function checkRequest(outline: JsonOutline, { limits }: CheckContext): RequestFacts {
  const root = bodyOf(outline);
  for (const [name, type] of Object.entries(CHECKED)) {
    const node = member(root, name);
    if (node !== undefined) checkType(node, name, type);
  }
  const modelNode = modelOf(root);
  const query = requireMember(root, 'query', 'a text');
  checkKind(query, 'query', ['string', 'object'], 'a text');
  const documents = documentsOf(outline);
  for (const [index, document] of documents.entries()) {
    checkKind(document, `documents.${index}`, ['string', 'object'], 'a text or an object with text');
  }
  return {
    ...DIRECT_FACTS,
    model: checkText(modelNode, 'model', limits.modelNameMax, 1),
    // A model reads the query with each document.
    inputBytes: outline.bytes.length + (query.end - query.start) * (documents.length - 1),
    outputTokensMax: 0,
    priced: findPricedMembers(children(root)),
    extras: {
      mediaInput: false,
      mediaOutput: false,
      toolRequests: new Map(),
      units: { search_units: Math.ceil(documents.length / DOCUMENTS_PER_SEARCH) },
    },
  };
}

export const rerankClient: DirectClient = {
  ...DIRECT_CLIENT,
  name: 'rerank',
  endpoints: [
    { path: '/rerank', countOnly: false },
    { path: '/v2/rerank', countOnly: false },
  ],
  checkRequest,
};
