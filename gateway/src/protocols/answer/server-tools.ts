/** Reads the number of server-side tool requests from the `usage` objects of either format. */
import { asCount, asObject } from '../json.ts';

/** The number of requests of one kind of tool. */
export type ToolRequests = readonly [kind: string, requests: number];

/** More requests of one kind than any answer makes: a larger count is invalid. Keeps a bill within 64 bits. */
const REQUESTS_MAX = 10_000;

const REQUESTS_MEMBER = /^(.+)_requests$/;

/** Requests by kind of a `server_tool_use` object, including unknown kinds and counts of 0. */
export function readServerToolUse(value: unknown): readonly ToolRequests[] {
  const given = asObject(value);
  if (given === null) return [];
  return Object.keys(given).flatMap((name) => {
    const kind = REQUESTS_MEMBER.exec(name)?.[1];
    const requests = readRequests(given[name]);
    return kind === undefined || requests === null ? [] : [[kind, requests] as const];
  });
}

/** Null: absent or invalid. */
export function readRequests(value: unknown): number | null {
  const count = asCount(value);
  return typeof count === 'number' && count <= REQUESTS_MAX ? count : null;
}
