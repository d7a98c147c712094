/** Tests which document each console address gets, and that it is the same in every encoding. */
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { readFolder } from '../lib/package/packed-files.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { createConsoleServer, readConsoleFiles } from './console-files.ts';

const newFolder = temporaryFolders();

function readBuilt() {
  const folder = newFolder();
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<html><head><title>Tollgate</title></head><body></body></html>');
  writeFileSync(join(folder, 'assets/usage-1.js'), 'export default 1');
  const preloads = [
    { path: '^/app/?$', files: ['assets/home-1.js'] },
    { path: '^/app/usage/?$', files: ['assets/usage-1.js', 'assets/chart-1.js'] },
    { path: '^/app/keys/[^/]+/?$', files: ['assets/key-1.js'] },
    { path: '^/status/?$', files: [] },
  ];
  writeFileSync(join(folder, 'preloads.json'), JSON.stringify(preloads));
  return readConsoleFiles(readFolder(folder));
}

const preloadedIn = (html: string) => [...html.matchAll(/<link rel="modulepreload" crossorigin href="([^"]+)">/g)];

test.each([
  ['/app', ['home-1.js']],
  ['/app/', ['home-1.js']],
  ['/app/usage', ['usage-1.js', 'chart-1.js']],
  ['/app/keys/key_1', ['key-1.js']],
  ['/app/keys', []],
  ['/status', []],
  ['/app/nowhere/usage', []],
])('the document at %s names %j in its head', async (path, scripts) => {
  const reply = readBuilt().reply(path, null);
  const html = (await reply?.text()) ?? '';
  expect(html).toStartWith('<html><head><title>Tollgate</title>');
  expect(html).toEndWith('</head><body></body></html>');
  expect(preloadedIn(html).map(([, href]) => href)).toEqual(scripts.map((script) => `/app/assets/${script}`));
  expect(reply?.headers.get('content-security-policy')).toContain("script-src 'self';");
  expect(reply?.headers.get('cache-control')).toBe('no-cache');
});

test('each document is packed on its own', async () => {
  const built = readBuilt();
  const read = async (path: string, encoding: string | null) =>
    Buffer.from((await built.reply(path, encoding)?.arrayBuffer()) ?? new ArrayBuffer());
  for (const path of ['/app', '/app/usage', '/app', '/app/keys']) {
    const plain = await read(path, null);
    expect(gunzipSync(await read(path, 'gzip'))).toEqual(plain);
    expect(brotliDecompressSync(await read(path, 'br'))).toEqual(plain);
  }
});

test('a hashed file is itself, and one that there is not is no page', async () => {
  const built = readBuilt();
  expect(await built.reply('/app/assets/usage-1.js', null)?.text()).toBe('export default 1');
  expect(built.reply('/app/assets/usage-0.js', null)).toBeNull();
});

test.each([
  [0, [500, 200]],
  [60_000, [500, 500]],
])('after a build that failed, a page %d ms later or more builds again', async (retryMs, statuses) => {
  let builds = 0;
  const build = async () => {
    builds += 1;
    if (builds === 1) throw new Error('no space left on device');
    return new Map([['index.html', Buffer.from('<html></html>')]]);
  };
  const faults: string[] = [];
  const server = createConsoleServer({} as never, build, (cause) => faults.push(String(cause)), retryMs);
  server.prepare();
  const show = async () => (await server.showPage('/app', new Request('http://gw.test/app'))).status;
  // The first page waits for the build that fails.
  expect([await show(), await show()]).toEqual(statuses);
  expect(faults).toEqual(['Error: no space left on device']);
});
