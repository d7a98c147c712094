/** Generates request ids, which sort by time of arrival. */

/** `req_` and the 32 hexadecimal digits of a UUIDv7, whose first 12 are the unix milliseconds. */
export function newRequestId(): string {
  return `req_${Bun.randomUUIDv7('buffer').toString('hex')}`;
}

/** No id generated at `timeMs` (unix ms) or later sorts before this text. */
export function requestIdFloor(timeMs: number): string {
  return `req_${Math.max(0, Math.floor(timeMs)).toString(16).padStart(12, '0')}`;
}
