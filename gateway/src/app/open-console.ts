/** Owns joining the console: its API's handlers with what they work on, and its files. Holds no rule of its own. */
import type { Actor } from '../console-api/actor.ts';
import { createConsoleApi } from '../console-api/console-api.ts';
import { type ConsoleDesk, createConsoleDesk } from '../http/console-desk.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { Log } from '../telemetry/log.ts';
import { buildConsole } from './build-console.ts';

interface ConsoleParts {
  readonly directory: KeyDirectory;
  readonly log: Log;
}

/** The console over the parts of a running gateway. */
export function openConsole({ log }: ConsoleParts): ConsoleDesk {
  const api = createConsoleApi({
    handlers: {},
    identify: async (): Promise<Actor> => ({ kind: 'nobody' }),
    onFault: (route, cause) => log.error({ route, cause: String(cause) }, 'the console failed'),
  });
  return createConsoleDesk(api, buildConsole(), (cause) =>
    log.error({ cause: String(cause) }, 'the console could not be built: calls are served, the console is not'),
  );
}
