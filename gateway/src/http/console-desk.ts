/** Owns what is answered below `/app`: the console's API, its files once they are built, and words where they could not be. */
import type { ConsoleApi } from '../console-api/console-api.ts';
import { type ConsoleFiles, readConsoleFiles } from './console-files.ts';

export interface ConsoleDesk {
  readonly api: ConsoleApi;
  /** The file or page at `/app/{rest}`; waits for the build of the first start. */
  showPage(rest: string, request: Request): Promise<Response>;
}

/** `built` is the folder of the built files, on its way. Its failure is told to whoever opens the console, and `onFailure`. */
export function createConsoleDesk(
  api: ConsoleApi,
  built: Promise<string>,
  onFailure: (cause: unknown) => void,
): ConsoleDesk {
  const files = built.then(readConsoleFiles);
  files.catch(onFailure);
  return {
    api,
    async showPage(rest, request) {
      let ready: ConsoleFiles;
      try {
        ready = await files;
      } catch (cause) {
        return plainReply(
          500,
          `The console could not be built, so it is not served. Calls are served all the same.\n\n${String(cause)}\n`,
        );
      }
      const page = ready.reply(rest, request.headers.get('accept-encoding'));
      return page ?? plainReply(404, 'There is no such file. The console was renewed; reload the page.\n');
    },
  };
}

function plainReply(status: number, text: string): Response {
  return new Response(text, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    },
  });
}
