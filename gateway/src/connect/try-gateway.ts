/** Tries a gateway as a tool will use it: lists the models a key may use, and makes one call. Changes nothing. */
import { type Connection, type ToolProtocol, TRIAL_CALLS } from './tools.ts';

const TIMEOUT_MS = 60_000;
const SHOWN_CHARS_MAX = 300;

/**
 * The names of the models that the key may use over the format. Throws an Error with a message for the user of the
 * command.
 */
export async function readModels(connection: Connection): Promise<readonly string[]> {
  const response = await ask(connection, '/v1/models', {});
  if (!response.ok) throw await refusal(connection, response);
  const listed = (await response.json()) as { readonly data?: ReadonlyArray<{ readonly id?: unknown }> };
  return (listed.data ?? []).flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
}

/** Makes one small call. Throws an Error as `readModels`. */
export async function tryCall(connection: Connection, protocol: ToolProtocol, model: string): Promise<void> {
  const { path, body } = TRIAL_CALLS[protocol](model);
  const response = await ask(connection, path, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw await refusal(connection, response);
  await response.arrayBuffer();
}

async function ask({ url, key }: Connection, path: string, more: RequestInit): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  try {
    return await fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(TIMEOUT_MS), ...more });
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new Error(
      `No gateway answers at ${url} (${why}). Start it with tollgate serve, or name its address with --url.`,
    );
  }
}

async function refusal({ url }: Connection, response: Response): Promise<Error> {
  const text = await response.text();
  let message = text;
  try {
    message = (JSON.parse(text) as { error?: { message?: string } }).error?.message ?? text;
  } catch {
    // Not JSON, so not from this gateway: shown unchanged.
  }
  return new Error(
    `${url} answered the test request with HTTP ${response.status}: ${message.slice(0, SHOWN_CHARS_MAX)}`,
  );
}
