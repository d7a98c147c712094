/** Starts nginx as a blind proxy: one worker, kept-alive upstream sockets, no buffering, no log. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';
import { startServing } from './start-serving.ts';
import { type Subject, SubjectUnavailable } from './subject.ts';

const TEMP_KINDS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

function renderConfig(dir: string, port: number, upstreamPort: number): string {
  return `daemon off;
master_process off;
pid ${dir}/nginx.pid;
error_log stderr error;
events { worker_connections 16384; }
http {
  access_log off;
${TEMP_KINDS.map((kind) => `  ${kind}_temp_path ${dir}/${kind};\n`).join('')}  client_max_body_size 64m;
  client_body_buffer_size 1m;
  keepalive_requests 1000000000;
  upstream lab { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://lab;
      proxy_http_version 1.1;
      proxy_set_header connection "";
      proxy_buffering off;
    }
  }
}
`;
}

export const nginx: Subject = {
  name: 'nginx',
  title: 'nginx, blind',
  protocol: 'chat',
  async start({ upstreamPort, scratchDir }) {
    const command = Bun.which('nginx');
    if (command === null) throw new SubjectUnavailable('nginx is not installed (not found on PATH)');
    const port = findFreePort();
    for (const kind of TEMP_KINDS) mkdirSync(join(scratchDir, kind));
    const config = join(scratchDir, 'nginx.conf');
    writeFileSync(config, renderConfig(scratchDir, port, upstreamPort));
    const { group } = await startServing(
      { command: [command, '-e', 'stderr', '-p', scratchDir, '-c', config] },
      port,
      async () => {},
    );
    return { group, port, headers: {} };
  },
};
