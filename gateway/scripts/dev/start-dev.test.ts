/** Tests `npm run dev`: its printed commands work as pasted, a changed source restarts it, Ctrl-C ends all of it. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../test/harness/eventually.ts';
import { firstOrAll } from '../../test/harness/exhaustive.ts';
import { openScratch } from './scratch-folder.ts';
import { type Dev, startDev } from './start-dev.ts';

const SCRIPT = join(import.meta.dir, '../dev.ts');
const START_MS_MAX = 15_000;
let home = '';
let dev: Dev | null = null;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
});

afterEach(async () => {
  await dev?.stop();
  dev = null;
  rmSync(home, { recursive: true, force: true });
});

/** The printed curl lines as requests; machines without curl can check them too. */
function parseCurls(text: string): Request[] {
  const line = /^curl -N (\S+) \\\n {2}-H 'authorization: (.+)' \\\n {2}-H 'content-type: (.+)' \\\n {2}-d '(.+)'$/gm;
  return [...text.matchAll(line)].map(
    ([, url = '', authorization = '', type = '', body = '']) =>
      new Request(url, { method: 'POST', headers: { authorization, 'content-type': type }, body }),
  );
}

const countStarts = (text: string) => [...text.matchAll(/^Tollgate listens on /gm)].length;

test('the printed lines work as pasted, also after a changed source restarted it', async () => {
  const sources = join(home, 'sources');
  const folder = join(sources, 'deep');
  mkdirSync(folder, { recursive: true });
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  dev = await startDev({ scratch: await openScratch(join(home, 'dev')), sources, port: 0, print });

  for (const starts of [1, 2]) {
    await eventually(
      `start ${starts}`,
      () => (countStarts(printed) === starts && printed.includes('Ctrl-C ends it.') ? true : null),
      START_MS_MAX,
    );
    const answers = await Promise.all(parseCurls(printed).map(async (request) => (await fetch(request)).text()));
    expect(answers).toHaveLength(4);
    const [chat, chatStream, messages, messagesStream] = answers;
    expect(chat).toContain('Good day to you.');
    expect(chatStream).toContain('w50 ');
    expect(chatStream).toEndWith('data: [DONE]\n\n');
    expect(messages).toContain('Good day to you.');
    expect(messagesStream).toContain('w50 ');
    expect(messagesStream).toContain('event: message_stop');
    writeFileSync(join(folder, `changed-${starts}.ts`), '');
  }
}, 40_000);

test.each(firstOrAll(['SIGINT', 'SIGTERM'] as const))(
  '%s ends the gateway with it, in good order',
  async (signal) => {
    const started = Bun.spawn([process.execPath, SCRIPT, '--port', '0'], {
      env: { ...process.env, TMPDIR: home },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    let printed = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const bytes of started.stdout) printed += decoder.decode(bytes, { stream: true });
    })();
    const request = await eventually('the hints', () => parseCurls(printed)[0], START_MS_MAX);
    started.kill(signal);
    expect(await started.exited).toBe(0);
    await reading;
    expect(fetch(request)).rejects.toThrow();
  },
  40_000,
);

test('an invalid port is refused with the expected form', async () => {
  const started = Bun.spawn([process.execPath, SCRIPT, '--port', '99999'], { stdout: 'ignore', stderr: 'pipe' });
  expect(await started.exited).toBe(1);
  expect(await new Response(started.stderr).text()).toContain(
    '--port is "99999", expected a whole number from 0 to 65535',
  );
});
