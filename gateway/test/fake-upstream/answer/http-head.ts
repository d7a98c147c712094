/** Renders a response head, valid or deliberately wrong. */

import type { Scenario } from '../scenario.ts';
import type { HeaderLine } from './answer.ts';

const REASONS: Readonly<Record<number, string>> = {
  100: 'Continue',
  102: 'Processing',
  103: 'Early Hints',
  200: 'OK',
  204: 'No Content',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** How the end of the body is marked: by a length, chunks, or the end of the connection. */
export type Framing = { readonly by: 'length'; readonly bodyBytes: number } | { readonly by: 'chunks' | 'close' };

function block(status: number, headers: readonly HeaderLine[]): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${REASONS[status] ?? 'Status'}\r\n${lines.join('')}\r\n`;
}

function framingLines(framing: Framing, scenario: Scenario, bodyBytes: number): HeaderLine[] {
  const lines: HeaderLine[] = [];
  if (framing.by === 'chunks') lines.push(['transfer-encoding', 'chunked']);
  if (framing.by === 'length' || scenario.bothLengths === true) lines.push(['content-length', String(bodyBytes)]);
  if (framing.by === 'length' && scenario.bothLengths === true) lines.push(['transfer-encoding', 'chunked']);
  if (framing.by === 'close') lines.push(['connection', 'close']);
  return lines;
}

function paddingLines(scenario: Scenario): HeaderLine[] {
  const lines: HeaderLine[] = [];
  if (scenario.headerBlockBytes !== undefined) lines.push(['x-padding', 'p'.repeat(scenario.headerBlockBytes)]);
  for (let index = 0; index < (scenario.headerLines ?? 0); index += 1) lines.push([`x-line-${index}`, String(index)]);
  return lines;
}

/** Merges the scenario's headers over the answer's; names become lower-case. */
export function mergeHeaders(base: readonly HeaderLine[], wanted: Scenario['headers']): HeaderLine[] {
  if (wanted === undefined) return [...base];
  const changes = new Map(Object.entries(wanted).map(([name, value]) => [name.toLowerCase(), value]));
  const kept = base.filter(([name]) => !changes.has(name));
  for (const [name, value] of changes) if (value !== null) kept.push([name, value]);
  return kept;
}

/** Renders the head of the final response, preceded by the scenario's 1xx responses. */
export function renderHead(
  status: number,
  headers: readonly HeaderLine[],
  framing: Framing,
  bodyBytes: number,
  scenario: Scenario,
): string {
  const early = (scenario.informational ?? []).map((one) => block(one.status, Object.entries(one.headers ?? {})));
  if (scenario.rawHead !== undefined) return early.join('') + scenario.rawHead;
  const lines = [...headers, ...framingLines(framing, scenario, bodyBytes), ...paddingLines(scenario)];
  return early.join('') + block(status, lines);
}
