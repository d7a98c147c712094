/**
 * Defines `tollgate health`: asks the gateway on this machine whether it is ready, for health checks of containers
 * without a shell. Reads no data.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import { renderConfigProblem } from '../../config/file/config-problem.ts';
import { type ConfigSource, loadConfig } from '../../config/load-config.ts';
import { callControl } from '../../control/control-client.ts';
import { type CliEnvironment, CliFailure } from '../environment.ts';

const ANSWER_MS_MAX = 2_500;
const address = z.object({ local_url: z.string() });

/** Adds the command. `source` provides the configuration's file and the variables. */
export function register(
  program: Command,
  environment: CliEnvironment,
  source: Omit<ConfigSource, 'file'> = { environment: process.env, cwd: process.cwd() },
): void {
  program
    .command('health')
    .description('ask the gateway on this machine whether it is ready; exit status 0: it is')
    .option('--config <file>', 'a configuration file with the address (default: the server running here is asked)')
    .option('--alive', 'only whether it answers at all; also while it is shutting down')
    .action(async (flags: { config?: string; alive?: true }) => {
      const running = flags.config === undefined ? await runningAddress(environment) : null;
      const base = running ?? addressOf({ ...source, file: flags.config });
      const url = `${base}/${flags.alive ? 'healthz' : 'readyz'}`;
      const { status, text } = await ask(url);
      if (status !== 200) throw new CliFailure(1, `${url} answered ${status}: ${text}`);
      environment.stdout(`${text}\n`);
    });
}

async function ask(url: string): Promise<{ status: number; text: string }> {
  try {
    // Its own address on the loopback interface, and nothing secret: the certificate is for another name.
    const tls = { rejectUnauthorized: false };
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX), tls, proxy: '' });
    return { status: response.status, text: (await response.text()).trim() };
  } catch (error) {
    throw new CliFailure(1, `${url} does not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Where the server of this data folder listens. The file may have changed since its start, also to one that is invalid:
 * then the server goes on, and no health check may end it. Null: none is running, or it cannot be asked.
 */
async function runningAddress({ dataDir }: CliEnvironment): Promise<string | null> {
  const reply = await callControl(dataDir, 'server.address', {}).catch(() => null);
  if (reply === null || reply === 'no-server' || !reply.ok) return null;
  return address.safeParse(reply.result).data?.local_url ?? null;
}

/** Where the gateway of this configuration listens; for one that listens on all interfaces, the loopback address. */
function addressOf(source: ConfigSource): string {
  const { config, problems } = loadConfig(source);
  if (config === null) throw new CliFailure(1, problems.map(renderConfigProblem).join('\n'));
  const { host, port, tls } = config.server;
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${reached}:${port}`;
}
