/** Plays the machine that credential sources read: variables, files, servers and a clock that the test sets. */
import type { Surroundings } from '../surroundings.ts';

export interface AskedServer {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** The answer of a server; a text is a 200. Throw to refuse the connection. */
type Answer = (asked: AskedServer) => Response | string | Promise<Response | string>;

export interface FakeMachine {
  readonly environment?: Readonly<Record<string, string>>;
  /** By path. */
  readonly files?: Readonly<Record<string, string>>;
  /** By the beginning of the address, without the query; others refuse the connection. */
  readonly servers?: Readonly<Record<string, Answer>>;
}

export class FakeSurroundings implements Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly asked: AskedServer[] = [];
  readonly warnings: string[] = [];
  now = Date.UTC(2026, 10, 22, 12);
  readonly #machine: FakeMachine;

  constructor(machine: FakeMachine = {}) {
    this.#machine = machine;
    this.environment = { HOME: '/home/gw', ...machine.environment };
  }

  readonly readFileNow = (path: string): string => {
    const text = this.#machine.files?.[path];
    if (text === undefined) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
    return text;
  };

  readonly readFile = async (path: string): Promise<string> => this.readFileNow(path);

  readonly fetch: Surroundings['fetch'] = async (input, init) => {
    const request = new Request(input as string, init);
    const asked = { method: request.method, url: request.url, headers: request.headers, body: await request.text() };
    this.asked.push(asked);
    const [, answer] = Object.entries(this.#machine.servers ?? {}).find(([start]) => asked.url.startsWith(start)) ?? [];
    if (answer === undefined) throw new TypeError('cannot connect');
    const given = await answer(asked);
    return typeof given === 'string' ? new Response(given) : given;
  };

  readonly fetchBound = this.fetch;

  nowMs(): number {
    return this.now;
  }

  warn(message: string): void {
    this.warnings.push(message);
  }
}
