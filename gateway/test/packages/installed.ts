/** Starts an installed Tollgate as its user does, and checks its first use. */
import { expect } from 'bun:test';
import { openAuthenticator } from '../../src/console-api/testing/soft-authenticator.ts';
import { must, OWNER, openPerson, PASSWORD } from '../console-api/api-visitor.ts';

const FIRST_ANSWER_MS_MAX = 60_000;

export interface Installed {
  readonly url: string;
  readonly key: string;
  /** The address that creates the first owner. */
  readonly setupLink: string;
  stop(): Promise<void>;
}

/** Starts the command with a free port in `cwd`, and waits for the address and the first key. */
export async function startInstalled(
  command: readonly string[],
  { cwd, environment }: { cwd: string; environment: Record<string, string | undefined> },
): Promise<Installed> {
  const started = Bun.spawn([...command], { cwd, env: environment, stdout: 'pipe', stderr: 'pipe', detached: true });
  const stderr = new Response(started.stderr).text();
  let printed = '';
  const decoder = new TextDecoder();
  const reader = started.stdout.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${command.join(' ')} ended: ${printed}${await stderr}`);
    printed += decoder.decode(value, { stream: true });
    const url = /listens on (http:\/\/\S+)/.exec(printed)?.[1];
    // The last line that a first start prints.
    const key = /More keys: /.test(printed) ? /tg_[0-9A-Za-z]{49}/.exec(printed)?.[0] : undefined;
    const setupLink = /\S+\/app\/setup\?token=\S+/.exec(printed)?.[0];
    if (url === undefined || key === undefined || setupLink === undefined) continue;
    reader.releaseLock();
    void drain(started.stdout);
    return {
      url,
      key,
      setupLink,
      async stop() {
        // As a terminal does: Ctrl-C goes to npx, the launcher and the server.
        process.kill(-started.pid, 'SIGINT');
        await started.exited;
      },
    };
  }
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}

/**
 * Expects the first answer within a minute of the clock's start; then the console's files, the documentation, and that
 * the first owner can add a passkey.
 */
export async function expectFirstUse(installed: Installed, elapsedMs: () => number): Promise<void> {
  expect(await firstAnswer(installed)).toContain('You wrote: “Hello!”');
  const firstAnswerMs = elapsedMs();
  expect(firstAnswerMs).toBeLessThan(FIRST_ANSWER_MS_MAX);
  process.stderr.write(`the first answer came after ${(firstAnswerMs / 1_000).toFixed(1)} s\n`);
  const files = await consoleFiles(installed.url);
  expect(files.size).toBeGreaterThan(2);
  expect([...files.values()].every((status) => status === 200)).toBe(true);
  expect(await docsTitles(installed.url)).toEqual(DOCS_TITLES);
  expect(await addPasskey(installed)).toBe(200);
}

/** The demo model's answer to "Hello!". */
export async function firstAnswer({ url, key }: Installed): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello!' }] }),
  });
  if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`);
  const answer: { choices: { message: { content: string } }[] } = JSON.parse(await response.text());
  return answer.choices[0]?.message.content ?? '';
}

/** The status of a passkey that the first owner adds, which loads the library that checks it. */
async function addPasskey({ setupLink }: Installed): Promise<number> {
  const page = new URL(setupLink);
  // Passkeys need a host with a name.
  page.hostname = 'localhost';
  const owner = openPerson(page.origin);
  const token = page.searchParams.get('token');
  await must(owner.ask('POST /setup', { body: { ...OWNER, token, workspace: null } }));
  const options = await must(owner.ask('POST /me/passkeys/options', { body: { password: PASSWORD } }));
  const response = openAuthenticator(page.origin).make(options as never);
  return (await owner.ask('POST /me/passkeys', { body: { name: 'laptop', response } })).status;
}

/** The scripts and styles that the console's page names, and their statuses. */
async function consoleFiles(url: string): Promise<ReadonlyMap<string, number>> {
  const page = await (await fetch(`${url}/app`)).text();
  const names = [...page.matchAll(/(?:src|href)="(\/app\/assets\/[^"]+)"/g)].map(([, name]) => name ?? '');
  const statuses = await Promise.all(names.map(async (name) => [name, (await fetch(url + name)).status] as const));
  return new Map(statuses);
}

/** The titles of two pages of the documentation, one of them of an error. */
export async function docsTitles(url: string): Promise<readonly string[]> {
  const pages = ['/docs', '/docs/errors/rate_limited'].map(async (path) => {
    const page = await (await fetch(url + path)).text();
    return /<title>(.*?)<\/title>/.exec(page)?.[1] ?? page.slice(0, 200);
  });
  return await Promise.all(pages);
}
export const DOCS_TITLES = ['Tollgate documentation', 'rate_limited · Tollgate'];
