/**
 * Compares the cost of requests to an upstream over HTTP/1.1, by the gateway's own client, and over one HTTP/2 connection
 * of the runtime, both with TLS, against one Node server. Run: `node gateway/scripts/run-bun.cjs bench/upstream/http2.bench.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseBaseUrl } from '../../gateway/src/upstream/connection.ts';
import { Exchange } from '../../gateway/src/upstream/exchange.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../gateway/src/upstream/testing/certificate.ts';

const REQUESTS = 4_000;
const ROUNDS = 5;
const BODY = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(400) }] }));
const SERVER = `
const fs = require('fs'), folder = process.argv[1];
const answer = Buffer.from(JSON.stringify({ choices: [{ message: { content: 'y'.repeat(300) } }], usage: {} }));
const options = { cert: fs.readFileSync(folder + '/cert.pem'), key: fs.readFileSync(folder + '/key.pem'), allowHTTP1: true };
require('http2').createSecureServer(options, (request, reply) => {
  request.resume().on('end', () => {
    reply.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    reply.end(answer);
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

type Send = () => Promise<void>;

function overHttp1(url: string): Send {
  const { origin } = parseBaseUrl(url);
  const head = `POST /v1 HTTP/1.1\r\nhost: ${origin.authority}\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n`;
  const times = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 20_000 };
  const limits = { ...times, responseBytesMax: 2 ** 20, mayResend: true };
  return () =>
    new Promise((resolve, reject) => {
      const onFailure = ({ message }: { readonly message: string }) => reject(new Error(message));
      new Exchange(origin, head, BODY, limits, { onHead() {}, onBody() {}, onEnd: resolve, onFailure });
    });
}

function overHttp2(url: string): Send {
  const session = connect(url, { ca: CERTIFICATE });
  const head = { ':method': 'POST', ':path': '/v1', 'content-type': 'application/json', 'content-length': BODY.length };
  return () =>
    new Promise((resolve, reject) => {
      const stream = session.request(head);
      stream.on('data', () => undefined);
      stream.on('end', resolve);
      stream.on('error', reject);
      stream.end(BODY);
    });
}

async function measure(send: Send, atOnce: number): Promise<{ readonly cpuUs: number; readonly p50Ms: number }> {
  const times: number[] = [];
  let left = REQUESTS;
  const cpu = process.cpuUsage();
  const work = async () => {
    while (left-- > 0) {
      const startMs = performance.now();
      await send();
      times.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const { user, system } = process.cpuUsage(cpu);
  return { cpuUs: (user + system) / REQUESTS, p50Ms: median(times) };
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0;
}

const folder = mkdtempSync(join(tmpdir(), 'tollgate-http2-'));
const authority = join(folder, 'cert.pem');
writeFileSync(authority, CERTIFICATE);
writeFileSync(join(folder, 'key.pem'), CERTIFICATE_KEY);
if (process.env.TRUSTS_CERTIFICATE === undefined) {
  // The runtime reads its authorities once, at the start.
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: authority, TRUSTS_CERTIFICATE: 'yes' };
  const again = Bun.spawn([process.execPath, import.meta.path], { env, stdio: ['ignore', 'inherit', 'inherit'] });
  const status = await again.exited;
  rmSync(folder, { recursive: true });
  process.exit(status);
}
const server = Bun.spawn(['node', '-e', SERVER, folder], { stdout: 'pipe' });
const { value } = await server.stdout.getReader().read();
const url = `https://localhost:${new TextDecoder().decode(value).trim()}`;
const ways = { 'HTTP/1.1': overHttp1(url), 'HTTP/2': overHttp2(url) };
for (const atOnce of [8, 64]) {
  const found = new Map<string, { cpuUs: number; p50Ms: number }[]>();
  for (const [name, send] of Object.entries(ways)) await measure(send, atOnce).then(() => found.set(name, []));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, send] of Object.entries(ways)) found.get(name)?.push(await measure(send, atOnce));
  }
  for (const [name, rounds] of found) {
    const cpuUs = median(rounds.map((round) => round.cpuUs)).toFixed(1);
    const p50Ms = median(rounds.map((round) => round.p50Ms)).toFixed(2);
    process.stdout.write(`${name.padEnd(9)} ${atOnce} at once: ${cpuUs} µs of CPU, p50 ${p50Ms} ms\n`);
  }
}
server.kill();
rmSync(folder, { recursive: true });
process.exit(0);
