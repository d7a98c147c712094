/** Reads in which order a client wants a list. */
import { invalidRequest } from '../../errors/call-failure.ts';

/** Newest first unless the query says `order=asc`. Throws CallFailure for an unknown order. */
export function isOldestFirst(query: URLSearchParams): boolean {
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') {
    throw invalidRequest(`order: found ${JSON.stringify(order.slice(0, 40))}; expected asc or desc`, 'order');
  }
  return order === 'asc';
}
