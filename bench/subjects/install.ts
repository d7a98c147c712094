/** Installs another gateway outside this repository, once: later runs find it. */
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGroup } from '../process/start-group.ts';
import { SubjectUnavailable } from './subject.ts';

export interface Installation {
  /** With its exact version, such as `portkey-1.15.2`. */
  readonly name: string;
  /** The file that exists once it is installed, relative to its folder. */
  readonly entry: string;
  /** Run in the folder, one after the other. */
  readonly commands: readonly (readonly string[])[];
}

const TIMEOUT_MS = 300_000;
/** What npm and pip need on this machine: their settings, certificates, a proxy. The subject itself gets none of it. */
const INSTALLER_SETTING = /^(?:npm_config_|pip_|ssl_cert|node_extra_ca_certs|(?:https?|no)_proxy$)/i;

function installerEnvironment(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) => INSTALLER_SETTING.test(name));
  return Object.fromEntries(settings.map(([name, value]) => [name, value ?? '']));
}

/** Returns the folder of the installation. Throws SubjectUnavailable with the last output if a command fails. */
export async function installOnce({ name, entry, commands }: Installation): Promise<string> {
  const dir = join(tmpdir(), `tollgate-bench-${name}`);
  if (existsSync(join(dir, entry))) return dir;
  process.stderr.write(`installing ${name} into ${dir} (once)\n`);
  mkdirSync(dir, { recursive: true });
  for (const command of commands) {
    const group = startGroup({ command, cwd: dir, env: installerEnvironment() });
    const timer = setTimeout(() => void group.stop(), TIMEOUT_MS);
    const status = await group.exited;
    clearTimeout(timer);
    if (status !== 0) throw new SubjectUnavailable(`${command.join(' ')} failed:\n${group.outputTail()}`);
  }
  if (!existsSync(join(dir, entry))) throw new SubjectUnavailable(`${name} was installed without its ${entry}`);
  return dir;
}
