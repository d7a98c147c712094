/** Owns the reading of how often tools ran upstream, as `usage` objects of either format report it. Prices nothing. */
import { asCount, asObject } from '../json.ts';

/** Requests of one kind of tool. */
export type ToolRequests = readonly [kind: string, requests: number];

/** More requests of one kind than any answer makes: such a number does not hold. It keeps a bill within 64 bits. */
const REQUESTS_MAX = 10_000;

const REQUESTS_MEMBER = /^(.+)_requests$/;

/** Requests by kind of a `server_tool_use` object, also those of kinds that we have not heard of; 0 where it says so. */
export function readServerToolUse(value: unknown): readonly ToolRequests[] {
  const given = asObject(value);
  if (given === null) return [];
  return Object.keys(given).flatMap((name) => {
    const kind = REQUESTS_MEMBER.exec(name)?.[1];
    const requests = readRequests(given[name]);
    return kind === undefined || requests === null ? [] : [[kind, requests] as const];
  });
}

/** Null: absent, or no number that holds. */
export function readRequests(value: unknown): number | null {
  const count = asCount(value);
  return typeof count === 'number' && count <= REQUESTS_MAX ? count : null;
}
