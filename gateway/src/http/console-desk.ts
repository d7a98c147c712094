/** Owns what is answered below `/app`: the console's API, its files once they are built, and words where they could not be. */
import type { ConsoleApi } from '../console-api/console-api.ts';
import { type ConsoleFiles, readConsoleFiles } from './console-files.ts';

export interface ConsoleDesk {
  readonly api: ConsoleApi;
  /** Begins to make the files ready, so that the first page need not wait for that. */
  prepare(): void;
  /** The file or page at a path; waits for the build of the first start. */
  showPage(path: string, request: Request): Promise<Response>;
}

/** `build` answers the folder of the built files; it is called once, when they are first needed. Its failure is told to whoever opens the console, and `onFailure`. */
export function createConsoleDesk(
  api: ConsoleApi,
  build: () => Promise<string>,
  onFailure: (cause: unknown) => void,
): ConsoleDesk {
  let files: Promise<ConsoleFiles> | null = null;
  function start(): Promise<ConsoleFiles> {
    const started = build().then(readConsoleFiles);
    started.catch(onFailure);
    return started;
  }
  return {
    api,
    prepare() {
      files ??= start();
    },
    async showPage(path, request) {
      let ready: ConsoleFiles;
      try {
        files ??= start();
        ready = await files;
      } catch (cause) {
        return plainReply(
          500,
          `The console could not be built, so it is not served. Calls are served all the same.\n\n${String(cause)}\n`,
        );
      }
      const page = ready.reply(path, request.headers.get('accept-encoding'));
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
