/** Tests `/metrics`, the alert rules and every query of the dashboard with a real Prometheus (Debian's package). */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

const DOCS = join(import.meta.dir, '../../../docs/monitoring');
const PROMETHEUS = Bun.which('prometheus');
const PROMTOOL = Bun.which('promtool');
const HAS_PROMETHEUS = PROMETHEUS !== null && PROMTOOL !== null;

let gateway: RunningGateway;
let prometheus: Bun.Subprocess;
let url = '';
const folder = mkdtempSync(join(tmpdir(), 'tollgate-prometheus-'));

interface Reply {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

async function query(text: string): Promise<Reply> {
  const reply = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(text)}`);
  return (await reply.json()) as Reply;
}

beforeAll(async () => {
  if (!HAS_PROMETHEUS) return;
  gateway = await startGateway();
  const place = Bun.serve({ port: 0, fetch: () => new Response() });
  url = `http://127.0.0.1:${place.port}`;
  await place.stop(true);
  const target = gateway.url.slice('http://'.length);
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(DOCS, 'alert-rules.yml')],
      scrape_configs: [{ job_name: 'tollgate', static_configs: [{ targets: [target] }] }],
    }),
  );
  const flags = ['--config.file', join(folder, 'prometheus.yml'), '--storage.tsdb.path', join(folder, 'data')];
  const listen = ['--web.listen-address', url.slice('http://'.length)];
  prometheus = Bun.spawn([PROMETHEUS ?? '', ...flags, ...listen], { stdout: 'ignore', stderr: 'ignore' });
});
afterAll(async () => {
  if (!HAS_PROMETHEUS) return;
  prometheus.kill();
  await prometheus.exited;
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

test.skipIf(!HAS_PROMETHEUS)('promtool accepts both text formats and the rules (needs prometheus)', async () => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const check = Bun.spawnSync([PROMTOOL ?? '', 'check', 'metrics'], { stdin: Buffer.from(text) });
  // Beyond errors it has opinions about names, which OpenTelemetry's conventions decide.
  expect([0, 3]).toContain(check.exitCode);
  const rules = Bun.spawnSync([PROMTOOL ?? '', 'check', 'rules', join(DOCS, 'alert-rules.yml')]);
  expect(rules.exitCode).toBe(0);
});

test.skipIf(!HAS_PROMETHEUS)('it scrapes the gateway and reads what requests counted (needs prometheus)', async () => {
  for (let call = 0; call < 3; call++) {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await reply.text();
  }
  const count = await eventually(
    'three requests in Prometheus',
    async () => {
      const reply = await query('sum(tollgate_requests_total{route="demo",status="200"})').catch(() => null);
      const value = reply?.data.result[0]?.value[1];
      return value === '3' ? value : null;
    },
    30_000,
  );
  expect(count).toBe('3');
  expect((await query('up{job="tollgate"}')).data.result[0]?.value[1]).toBe('1');
  expect((await query('sum(gen_ai_client_token_usage_count)')).data.result[0]?.value[1]).toBe('6');
});

test.skipIf(!HAS_PROMETHEUS)('it runs every query of the dashboard (needs prometheus)', async () => {
  const { panels } = JSON.parse(readFileSync(join(DOCS, 'grafana-dashboard.json'), 'utf8'));
  const texts: string[] = panels.flatMap(({ targets = [] }) => targets.map(({ expr }: { expr: string }) => expr));
  expect(texts.length).toBeGreaterThan(30);
  for (const text of texts) {
    const reply = await query(text.replaceAll('$job', 'tollgate'));
    expect([text, reply.error ?? reply.status]).toEqual([text, 'success']);
  }
});
