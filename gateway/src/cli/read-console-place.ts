/** Owns where links into the console lead while no server runs: what its configuration says. */
import { renderConfigProblem } from '../config/config-problem.ts';
import { type ConfigSource, loadConfig } from '../config/load-config.ts';
import { CliFailure } from './cli-environment.ts';

/** As the commands that make links take it. `console`: whether it is served. @throws CliFailure for a file with errors. */
export function readConsolePlace(source: ConfigSource): { readonly console: boolean; readonly base_url: string } {
  const { config, problems } = loadConfig(source);
  if (config === null) throw new CliFailure(1, problems.map(renderConfigProblem).join('\n'));
  const { console, publicUrl, host, port } = config.server;
  return { console, base_url: publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}` };
}
