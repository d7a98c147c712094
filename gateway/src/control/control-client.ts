/** Owns asking a running server to run a command. Does not run one itself where there is no server. */
import { z } from 'zod';
import type { ControlAnswer } from './command.ts';
import { findSocketPath } from './socket-place.ts';

const REPLY_TIMEOUT_MS = 30_000;

const reply = z.union([
  z.object({ ok: z.literal(true), result: z.json() }),
  z.object({ ok: z.literal(false), kind: z.enum(['usage', 'failed', 'unknown']), message: z.string() }),
]);

/**
 * Has the server of a data folder run a command; `no-server` where none listens.
 *
 * @throws Error where there is a server that cannot be spoken to, or does not answer.
 */
export async function callControl(
  dataDir: string,
  name: string,
  rawArguments: unknown,
): Promise<ControlAnswer | 'no-server'> {
  const path = findSocketPath(dataDir);
  if (path === null) return 'no-server';
  let text: string;
  try {
    const response = await fetch(`http://tollgate/commands/${name}`, {
      unix: path,
      method: 'POST',
      body: JSON.stringify(rawArguments),
      signal: AbortSignal.timeout(REPLY_TIMEOUT_MS),
    });
    text = await response.text();
  } catch (fault) {
    if (isNobodyThere(fault)) return 'no-server';
    throw new Error(
      `The server of ${dataDir} could not be asked through ${path}: ${fault instanceof Error ? fault.message : String(fault)}. Run the command as the user that runs the server.`,
    );
  }
  return parseReply(text, path);
}

function parseReply(text: string, path: string): ControlAnswer {
  try {
    return reply.parse(JSON.parse(text));
  } catch {
    throw new Error(
      `What answers on ${path} is not a Tollgate server of this version. Restart the server with the same version as this command.`,
    );
  }
}

function isNobodyThere(fault: unknown): boolean {
  const code = fault instanceof Error && 'code' in fault ? fault.code : null;
  return code === 'ENOENT' || code === 'ECONNREFUSED';
}
