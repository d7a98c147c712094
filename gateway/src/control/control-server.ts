/**
 * Owns the control socket of a running server: JSON over HTTP over a socket that only the server's own user can open. Whoever
 * does is the command line to the audit trail.
 */
import { type ControlAnswer, type ControlReply, FROM_COMMAND_LINE } from './command.ts';
import { answerCommand, type Control } from './control.ts';
import { clearSocketPlace, prepareSocketPlace } from './control-client.ts';

export interface ControlServer {
  readonly path: string;
  /** A sentence for the operator where the socket is not in the data folder, else null. */
  readonly notice: string | null;
  /** Answers what is under way, then takes the socket away. */
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 1_048_576;

/**
 * Listens on the data folder's control socket. Only for who holds the data lock: a socket that is there is a dead
 * server's, and is replaced. `POST /commands/NAME` with the arguments as JSON is answered with a ControlReply.
 */
export function serveControl(dataDir: string, control: Control): ControlServer {
  const place = prepareSocketPlace(dataDir);
  // The socket is 0600 from birth: between making it and a chmod anybody could open it.
  const umask = process.umask(0o177);
  try {
    const server = Bun.serve({
      unix: place.path,
      maxRequestBodySize: BODY_BYTES_MAX,
      fetch: (request) => answer(request, control),
      error: () => Response.json(UNANSWERED, { status: 500 }),
    });
    return {
      ...place,
      async stop() {
        await server.stop();
        clearSocketPlace(dataDir);
      },
    };
  } finally {
    process.umask(umask);
  }
}

async function answer(request: Request, control: Control): Promise<Response> {
  const [, name] = /^\/commands\/([a-z._]+)$/.exec(new URL(request.url).pathname) ?? [];
  if (request.method !== 'POST' || name === undefined) {
    return Response.json(failed('expected POST /commands/NAME'), { status: 404 });
  }
  let given: unknown;
  try {
    given = await request.json();
  } catch (fault) {
    return Response.json(failed(fault instanceof Error ? fault.message : String(fault)));
  }
  return Response.json(await answerCommand(control, name, given, FROM_COMMAND_LINE));
}

const UNANSWERED: ControlAnswer = { ok: false, kind: 'unknown', message: 'the control socket failed to answer' };

function failed(message: string): ControlReply {
  return { ok: false, kind: 'failed', message };
}
