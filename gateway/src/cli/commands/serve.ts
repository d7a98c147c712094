/** Defines the command `tollgate serve`: start, reload, signals and shutdown. app/app.ts composes what it starts. */
import { type Command, InvalidArgumentError } from 'commander';
import type { App } from '../../app/app.ts';
import { drain } from '../../app/drain.ts';
import { renderConfigProblem } from '../../config/file/config-problem.ts';
import { listenHost, listenPort } from '../../config/file/scalar-schema.ts';
import { type ConfigWatch, watchConfig } from '../../config/file/watch-config.ts';
import { type ConfigSource, loadConfig } from '../../config/load-config.ts';
import { DISTRIBUTION } from '../../lib/package/distribution.ts';
import { createTurns } from '../../lib/turns.ts';
import { type Log, openLog, type ProcessLog } from '../../telemetry/log.ts';
import { logFaults } from '../../telemetry/log-faults.ts';
import { type CliEnvironment, CliFailure } from '../environment.ts';

interface ServeFlags {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
}

/** Terminals send Ctrl-C to the launcher and to this process: two signals within this time count as one. */
const SAME_SIGNAL_MS = 1_000;

/** Adds the command to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('serve')
    .description('start the gateway')
    .option('--config <file>', 'the configuration file (default: TOLLGATE_CONFIG, else tollgate.yaml if it exists)')
    .option('--host <host>', 'address to listen on (default: HOST, else 127.0.0.1)', parseHost)
    .option('--port <port>', 'port to listen on (default: PORT, else 8080; 0: any free port)', parsePort)
    .action((flags: ServeFlags) => serve(flags, environment));
}

async function serve(flags: ServeFlags, environment: CliEnvironment): Promise<void> {
  const startMs = performance.now();
  const source: ConfigSource = {
    file: flags.config,
    cwd: process.cwd(),
    environment: {
      ...process.env,
      ...(flags.host === undefined ? {} : { HOST: flags.host }),
      ...(flags.port === undefined ? {} : { PORT: flags.port }),
    },
  };
  const loaded = loadConfig(source);
  const { config } = loaded;
  if (config === null) {
    throw new CliFailure(1, loaded.problems.map(renderConfigProblem).join('\n'));
  }
  const output = openLog();
  const { log, lines } = output;
  // Without a handler the signal ends the process: one that comes during the start is a reload after it.
  let isHungUp = false;
  let hangUp = () => {
    isHungUp = true;
  };
  process.on('SIGHUP', () => hangUp());
  // Imported here, not above: it is most of the program, and no other command needs it.
  const [{ startApp }, { waitForDiskSpace }] = await Promise.all([
    import('../../app/app.ts'),
    import('../../app/wait-for-disk-space.ts'),
  ]);
  const app = await waitForDiskSpace(() => startApp(config, output), log).catch(async (error: unknown) => {
    await lines.close();
    throw new CliFailure(1, error instanceof Error ? error.message : String(error));
  });
  // Libraries that connect by themselves (sign-in services) go the guarded way too.
  globalThis.fetch = Object.assign(app.fetch, { preconnect: () => undefined });
  logFaults(log);
  // Before the first words: a program that waits for them may send a signal at once.
  const end = ended(app, output);
  const watches: ConfigWatch[] = [];
  /** Watches the file from its first load on: a reload may find one that the start did not. */
  const watchFile = () => {
    const { file } = app.deps.settings.config;
    if (file !== null && watches.length === 0) watches.push(watchConfig(file, () => void reload()));
  };
  const reload = createReload(app, source, log, loaded.isEmpty, watchFile);
  hangUp = () => void reload();
  if (isHungUp) hangUp();
  environment.stdout(renderFirstWords(app, startMs));
  watchFile();
  await end;
  for (const watch of watches) watch.stop();
  if (app.deps.unknownCallers > 0)
    log.info({ calls: app.deps.unknownCallers }, 'rejected requests without a valid API key');
  await lines.close();
  process.exit(0);
}

/**
 * Returns a function that reloads the configuration. Reloads run one at a time and read the file in their turn, so that the
 * last one ends with the newest file. `isEmpty`: whether the first configuration is of no file or of an empty one.
 */
export function createReload(
  app: Reloadable,
  source: ConfigSource,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
  isEmpty: boolean,
  onEnd: () => void,
): () => Promise<void> {
  const inTurn = createTurns();
  let isEmptyNow = isEmpty;
  return () =>
    inTurn(async () => {
      isEmptyNow = await reloadConfig(app, source, log, isEmptyNow);
      onEnd();
    });
}

interface Reloadable extends Pick<App, 'reconfigure'> {
  readonly deps: Pick<App['deps'], 'settings'>;
}

/**
 * An invalid configuration changes nothing, and neither does a file that is gone or empty: its content may be on its way,
 * or found no space on the disk. `isEmpty`: whether the running configuration is of no file or of an empty one; the same of
 * the one that runs now is returned.
 */
async function reloadConfig(
  app: Reloadable,
  source: ConfigSource,
  log: Pick<Log, 'info' | 'warn' | 'error'>,
  isEmpty: boolean,
): Promise<boolean> {
  const loaded = loadConfig(source);
  const { config } = loaded;
  if (config === null) {
    log.error(
      { problems: loaded.problems.map(renderConfigProblem) },
      'the configuration is invalid: the running configuration stays',
    );
    return isEmpty;
  }
  const { server, file } = app.deps.settings.config;
  if (loaded.isEmpty && !isEmpty) {
    log.error(
      { file },
      'the configuration file is gone or empty: the running configuration stays; a restart would serve without',
    );
    return isEmpty;
  }
  try {
    await app.reconfigure(config);
  } catch (error) {
    log.error({ cause: String(error) }, 'the configuration cannot be applied: the running configuration stays');
    return isEmpty;
  }
  if (server.host !== config.server.host || server.port !== config.server.port) {
    log.warn('server.host and server.port take effect at the next start');
  }
  if ((server.tls === null) !== (config.server.tls === null)) {
    log.warn('server.tls is switched on or off at the next start');
  }
  log.info({ models: app.deps.settings.routes.size }, 'the configuration was reloaded');
  return loaded.isEmpty;
}

/** Resolves when the server has ended after a signal, or after the launcher exited. */
function ended(app: App, { log, lines }: ProcessLog): Promise<void> {
  const hurry = new AbortController();
  let firstMs: number | null = null;
  return new Promise((resolve) => {
    const stop = (reason: string, serveOn: boolean) => {
      const nowMs = performance.now();
      if (firstMs !== null) {
        if (nowMs - firstMs >= SAME_SIGNAL_MS) hurry.abort();
        return;
      }
      firstMs = nowMs;
      const { drainMs, drainStreamsMs } = app.deps.settings.config.limits;
      const open = app.deps.capacity.present.held;
      log.info({ reason, open_calls: open }, 'stopping: open requests finish first; a second signal ends them');
      drain(app, { serveOnMs: serveOn ? drainMs : 0, finishMs: drainStreamsMs, hurry: hurry.signal }).then(
        resolve,
        async (error) => {
          log.error({ cause: String(error) }, 'the shutdown failed');
          await lines.close();
          process.exit(1);
        },
      );
    };
    process.on('SIGTERM', () => stop('SIGTERM', true));
    process.on('SIGINT', () => stop('SIGINT', false));
    watchLauncher(() => stop('the launcher exited', false));
  });
}

/**
 * The text for standard output. The first key and the setup link are the only secrets ever printed, at the first start.
 */
function renderFirstWords(app: App, startMs: number): string {
  const { config, routes } = app.deps.settings;
  const base = config.server.publicUrl ?? app.server.url;
  const models = `${routes.size} model ${routes.size === 1 ? 'name' : 'names'}`;
  const lines = [
    `Tollgate listens on ${app.server.url} (${models}, ready in ${Math.round(performance.now() - startMs)} ms).`,
  ];
  lines.push(...app.notices);
  if (config.providersFrom === 'built-in') {
    lines.push('No provider is configured: the built-in models "demo" and "claude-demo" respond, offline and free.');
  }
  if (app.setUpLink !== null) {
    lines.push('', 'Set up the console with this link (it works once, for 15 minutes):', '', `  ${app.setUpLink}`);
  }
  if (app.firstKey !== null)
    lines.push(
      '',
      ...renderFirstKey(app.firstKey, base, { chat: app.suggestModel('chat'), messages: app.suggestModel('messages') }),
    );
  return `${lines.join('\n')}\n`;
}

interface ShownModels {
  readonly chat: string | null;
  readonly messages: string | null;
}

function renderFirstKey(key: string, base: string, models: ShownModels): string[] {
  const lines = ['Your first API key, shown only once:', '', `  ${key}`, ''];
  if (models.chat !== null) {
    const body = { model: models.chat, messages: [{ role: 'user', content: 'Hello!' }] };
    lines.push('Try it:', '', ...renderCurl('curl', `${base}/v1/chat/completions`, key, body), '');
    lines.push(
      'Streaming:',
      '',
      ...renderCurl('curl -N', `${base}/v1/chat/completions`, key, { ...body, stream: true }),
      '',
    );
  }
  if (models.messages !== null) {
    const body = { model: models.messages, max_tokens: 256, messages: [{ role: 'user', content: 'Hello!' }] };
    const url = `${base}/v1/messages`;
    lines.push('Messages format:', '', ...renderCurl('curl', url, key, body), '');
    lines.push('Messages format, streaming:', '', ...renderCurl('curl -N', url, key, { ...body, stream: true }), '');
  }
  return [...lines, `More keys: ${DISTRIBUTION.command} keys create --name NAME`];
}

function renderCurl(command: string, url: string, key: string, body: object): string[] {
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `${command} ${url} \\`,
    `  -H 'authorization: Bearer ${key}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${text}'`,
  ];
}

/**
 * Calls `onGone` once when the process that started this one with a channel (`bin/tollgate`) has exited, for any
 * reason, even before this call. Does nothing without a channel, and never keeps the process alive. Returns a function
 * that stops the watch.
 */
export function watchLauncher(onGone: () => void): () => void {
  if (process.send === undefined) return () => {};
  process.once('disconnect', onGone);
  process.channel?.unref();
  return () => {
    process.off('disconnect', onGone);
  };
}

function parseHost(text: string): string {
  if (listenHost.safeParse(text).success) return text;
  throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected an address or host name.`);
}

function parsePort(text: string): string {
  if (listenPort.safeParse(text).success) return text;
  throw new InvalidArgumentError(`found ${JSON.stringify(text)}, expected a port from 0 to 65535.`);
}
