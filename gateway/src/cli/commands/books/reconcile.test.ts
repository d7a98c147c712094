/** Tests how `tollgate reconcile fetch` reaches a provider. The comparison itself is tested against a gateway. */
import { expect, test } from 'bun:test';
import { Command } from 'commander';
import { temporaryFolders } from '../../../store/testing/temporary-folder.ts';
import { setEgressProxy } from '../../../upstream/dial.ts';
import { startConnectProxy } from '../../../upstream/testing/connect-proxy.ts';
import { register } from './reconcile.ts';

const newFolder = temporaryFolders();

test('an invoice is fetched through the proxy, as requests are, and its host is resolved there', async () => {
  const proxy = await startConnectProxy(1, () => 'HTTP/1.1 403 No\r\n\r\n');
  const program = new Command().exitOverride();
  const environment = { dataDir: newFolder(), stdout: () => undefined, stderr: () => undefined, nowMs: () => 0 };
  const variables = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, ADMIN_KEY: 'sk-admin' };
  register(program, environment, undefined, { environment: variables, cwd: newFolder() });
  const days = ['--from', '2026-11-01', '--to', '2026-11-02'];
  const words = ['reconcile', 'fetch', 'openai-costs', '--provider', 'openai', '--secret', 'ADMIN_KEY', ...days];
  await expect(program.parseAsync(words, { from: 'user' })).rejects.toThrow('the proxy refuses (it answered 403)');
  setEgressProxy(null);
  proxy.stop();
  const [head = '', ...others] = proxy.asked;
  expect(head).toStartWith('CONNECT api.openai.com:443 HTTP/1.1\r\n');
  expect([head.includes('sk-admin'), others]).toEqual([false, []]);
});
