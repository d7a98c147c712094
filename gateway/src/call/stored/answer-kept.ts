/** Answers the routes of a stored response that is kept here. Source: specification of the Responses API, A.1. */
import { invalidRequest } from '../../errors/call-failure.ts';
import { asObject, asText } from '../../protocols/json.ts';
import type { Conversation } from './open-stored-state.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** The items of the input as a page: newest first unless `order=asc`. Items without an id get one for the paging. */
export function listInput({ input }: Conversation, query: URLSearchParams): object {
  const limit = Number(query.get('limit') ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw invalidRequest(`limit: found ${query.get('limit')}; expected an integer from 1 to ${LIMIT_MAX}`, 'limit');
  }
  const given = JSON.parse(`[${input}]`) as unknown[];
  const items = given.map((item, index) => {
    const members = asObject(item) ?? {};
    return { type: 'message', ...members, id: asText(members.id) ?? `msg_in_${index}` };
  });
  if (query.get('order') !== 'asc') items.reverse();
  const after = query.get('after');
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) throw invalidRequest('after: found no such item', 'after');
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  };
}
