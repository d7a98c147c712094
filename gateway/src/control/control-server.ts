/**
 * Serves the control socket of a running server: JSON over HTTP over a socket that only the server's own user can open.
 * The audit trail records its clients as the command line.
 */
import { type ControlAnswer, type ControlReply, FROM_COMMAND_LINE } from './command.ts';
import { answerCommand, type Control } from './control.ts';
import { clearSocketPlace, prepareSocketPlace } from './control-client.ts';

export interface ControlServer {
  readonly path: string;
  /** A sentence for the operator if the socket is not in the data folder, else null. */
  readonly notice: string | null;
  /** Finishes running requests, then removes the socket. */
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 1_048_576;

/**
 * Listens on the data folder's control socket. The caller must hold the data lock: an existing socket belongs to a dead
 * server and is replaced. `POST /commands/NAME` with the arguments as JSON returns a ControlReply.
 */
export function serveControl(dataDir: string, control: Control): ControlServer {
  const place = prepareSocketPlace(dataDir);
  // The socket is created with mode 0600: between creation and a chmod, anyone could open it.
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
