/** Starts the parts of `npm run dev`: fake upstream, gateway, watch and output. Handles no signals. */
import { startFakeUpstream } from '../../test/fake-upstream/start-fake-upstream.ts';
import { UPSTREAM_VARIABLE } from './dev-config.ts';
import { type Child, keepRunning } from './keep-running.ts';
import { renderHints } from './render-hints.ts';
import { LAUNCHER, type Scratch } from './scratch-folder.ts';
import { watchSources } from './watch-sources.ts';

export interface DevPlan {
  readonly scratch: Scratch;
  /** The gateway restarts when a source file below this folder changes. */
  readonly sources: string;
  /** 0: any free port, kept across restarts. */
  readonly port: number;
  print(text: string): void;
}

export interface Dev {
  /** Stops the gateway, the fake upstream and the watch. */
  stop(): Promise<void>;
}

const LISTENS = /^Tollgate listens on (http:\/\/\S+:(\d+)) /m;

/** Starts all parts; returns before the gateway listens. */
export async function startDev({ scratch, sources, port, print }: DevPlan): Promise<Dev> {
  const fake = await startFakeUpstream();
  let keptPort = port;
  let hinted = false;

  function startGateway(): Child {
    const gateway = Bun.spawn(
      [process.execPath, LAUNCHER, 'serve', '--config', scratch.configFile, '--port', String(keptPort)],
      { cwd: scratch.folder, env: gatewayEnvironment(scratch, fake.url), stdout: 'pipe', stderr: 'inherit' },
    );
    void relay(gateway.stdout);
    return gateway;
  }

  async function relay(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of output) {
      const part = decoder.decode(bytes, { stream: true });
      print(part);
      if (hinted) continue;
      text += part;
      const [, url, listeningPort] = LISTENS.exec(text) ?? [];
      if (url === undefined) continue;
      hinted = true;
      keptPort = Number(listeningPort);
      print(renderHints({ gatewayUrl: url, fakeUrl: fake.url, key: scratch.key }));
    }
  }

  const gateway = keepRunning(startGateway, (status) =>
    print(`dev: the gateway ended with status ${status}; it restarts when a source file changes\n`),
  );
  const endWatch = watchSources(sources, () => {
    print('dev: a source file changed, the gateway restarts\n');
    gateway.restart();
  });
  return {
    async stop() {
      endWatch();
      await gateway.stop();
      await fake.stop();
    },
  };
}

function gatewayEnvironment(scratch: Scratch, fakeUrl: string): Record<string, string | undefined> {
  return {
    ...process.env,
    // The launcher ends the gateway when the process that npm started is gone for any reason, even if npm did not start
    // this one.
    npm_lifecycle_event: process.env.npm_lifecycle_event ?? 'dev',
    HOST: '127.0.0.1',
    TOLLGATE_DATA_DIR: scratch.dataDir,
    [UPSTREAM_VARIABLE]: fakeUrl,
  };
}
