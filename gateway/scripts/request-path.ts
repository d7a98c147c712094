/**
 * Prints the source files that one plain request runs through, from its arrival to its settlement, and their number.
 *
 * Starts a gateway on a fake upstream under the runtime's inspector, whose control-flow profiler counts how often each
 * block of code ran, warms it up and compares the counts before and after single requests: a file counts if one of its
 * functions ran on the request thread for every one of them. Timers that happen to run meanwhile do not run for every
 * request. Files that only declare types, and code of other threads (the writer's), do not count.
 */
import { pointAt } from '../test/harness/point-at.ts';
import { startPair } from '../test/harness/start-pair.ts';

const WARM_REQUESTS = 50;
const COUNTED_REQUESTS = 20;
/** Time for what a request leaves to do after its reply. */
const AFTER_MS = 5;
const SOURCES = /\/(gateway\/src\/[^?]+)$/;

/** One script of the inspected process. */
interface Script {
  readonly scriptId: string;
  readonly url: string;
}

/** What the inspector sends: the answer to a command, or an event. */
interface InspectorMessage {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Script;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A connection to the inspector of one process. */
class Inspector {
  readonly scripts: Script[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #sent = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#take(JSON.parse(String(data)) as InspectorMessage);
  }

  /** Rejects if the inspector refuses the command. */
  send(method: string, params: object = {}): Promise<unknown> {
    this.#sent += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#sent, waiting);
    this.#socket.send(JSON.stringify({ id: this.#sent, method, params }));
    return waiting.promise;
  }

  /** The counts of the wanted source files of the gateway, as text to compare. */
  async readCounts(isWanted: (file: string) => boolean): Promise<Map<string, string>> {
    const counts = new Map<string, string>();
    for (const { scriptId, url } of this.scripts) {
      const file = SOURCES.exec(url)?.[1];
      if (file === undefined || !isWanted(file)) continue;
      counts.set(file, JSON.stringify(await this.send('Runtime.getBasicBlocks', { sourceID: scriptId })));
    }
    return counts;
  }

  close(): void {
    this.#socket.close();
  }

  #take({ id, method, params, result, error }: InspectorMessage): void {
    if (method === 'Debugger.scriptParsed' && params !== undefined) this.scripts.push(params);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }
}

/** Connects as soon as the process listens, before it loads any code. */
async function connect(address: string): Promise<Inspector> {
  for (;;) {
    const socket = new WebSocket(address);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.onopen = () => resolve(true);
      socket.onerror = () => resolve(false);
    });
    if (isOpen) return new Inspector(socket);
    await Bun.sleep(20);
  }
}

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  listener.stop(true);
  return listener.port;
}

async function ask(url: string, key: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'Hello!' }] }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the request got status ${response.status}: ${text}`);
}

/** The files in which something ran for every one of the counted requests, in alphabetical order. */
async function filesOnPath(): Promise<readonly string[]> {
  const address = `ws://127.0.0.1:${freePort()}/request-path`;
  const starting = startPair((fake) => pointAt(fake, { chat: ['ok'], server: { console: 'off' } }), {
    environment: { BUN_INSPECT: `${address}?wait=1` },
  });
  const inspector = await connect(address);
  try {
    for (const command of [
      'Inspector.enable',
      'Runtime.enable',
      'Runtime.enableControlFlowProfiler',
      'Debugger.enable',
    ])
      await inspector.send(command);
    await inspector.send('Inspector.initialized');
    const { url, key } = (await starting).gateway;
    for (let sent = 0; sent < WARM_REQUESTS; sent++) await ask(url, key);
    await Bun.sleep(AFTER_MS);
    let before = await inspector.readCounts(() => true);
    let files = [...before.keys()];
    for (let sent = 0; sent < COUNTED_REQUESTS; sent++) {
      await ask(url, key);
      await Bun.sleep(AFTER_MS);
      // Timers would run each time while the counts of all files are read.
      const earlier = before;
      const after = await inspector.readCounts((file) => earlier.has(file));
      files = files.filter((file) => after.get(file) !== earlier.get(file));
      before = new Map(files.map((file) => [file, after.get(file) ?? '']));
    }
    return files.sort();
  } finally {
    inspector.close();
    await (await starting).stop();
  }
}

const files = await filesOnPath();
process.stdout.write(`${files.join('\n')}\n${files.length} files\n`);
