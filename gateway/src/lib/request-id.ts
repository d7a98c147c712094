/** Generates request ids, which sort by time of arrival. */

/** `req_` and the 32 hexadecimal digits of a UUIDv7, whose first 12 are the unix milliseconds. */
export function newRequestId(): string {
  const id = Bun.randomUUIDv7('hex');
  return `req_${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}${id.slice(24)}`;
}

/** No id generated at `timeMs` (unix ms) or later sorts before this text. */
export function requestIdFloor(timeMs: number): string {
  return `req_${Math.max(0, Math.floor(timeMs)).toString(16).padStart(12, '0')}`;
}
