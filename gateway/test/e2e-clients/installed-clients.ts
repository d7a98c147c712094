/**
 * Detects whether the client packages are installed, and loads their drivers. They are not a dependency of the project.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientDriver } from './client-driver.ts';

const CLIENTS = join(import.meta.dir, '../clients');
const MODULES = join(CLIENTS, 'node_modules');

const clientsInstalled = existsSync(join(MODULES, 'ai/package.json'));
/** For the names of suites that are skipped without the packages. */
export const NEEDS_CLIENTS = '(needs npm ci in gateway/test/clients)';

/** A file of the clients' folder that exports drivers. */
export type DriverFile =
  | 'ai-sdk'
  | 'langchain'
  | 'openai-agents'
  | 'openai-sdk'
  | 'openai-python'
  | 'google-genai'
  | 'google-genai-python';

/** Packages of Python, by the files that use them. */
const PYTHON_PACKAGES: { readonly [file in DriverFile]?: string } = {
  'openai-python': 'openai',
  'google-genai-python': 'google/genai',
};

/** Whether the packages of a driver are installed, and the words for its suite where they are not. */
export function installationOf(file: DriverFile): { readonly isInstalled: boolean; readonly needs: string } {
  const name = PYTHON_PACKAGES[file];
  if (name === undefined) return { isInstalled: clientsInstalled, needs: NEEDS_CLIENTS };
  const libraries = join(CLIENTS, '.venv/lib');
  const found = existsSync(libraries)
    ? new Bun.Glob(`python*/site-packages/${name}/__init__.py`).scanSync({ cwd: libraries })
    : [];
  return { isInstalled: [...found].length > 0, needs: '(needs gateway/test/clients/.venv; see .ci/run)' };
}

/** Returns the drivers that a file of the clients' folder exports. */
export async function loadDrivers(file: DriverFile): Promise<Readonly<Record<string, ClientDriver>>> {
  const loaded: { readonly drivers: Readonly<Record<string, ClientDriver>> } = await import(
    join(CLIENTS, `${file}.ts`)
  );
  return loaded.drivers;
}

/**
 * Returns the Claude Code binary for this platform; null if its package has none. npm installs only the matching one.
 */
export function findClaudeCode(): string | null {
  const platform = `${process.platform}-${process.arch}`;
  const folders = [platform, `${platform}-musl`].map((name) => join(MODULES, `@anthropic-ai/claude-code-${name}`));
  return folders.map((folder) => join(folder, 'claude')).find((program) => existsSync(program)) ?? null;
}

/** Returns the Codex binary for this platform, in the same way. */
export function findCodex(): string | null {
  const vendor = join(MODULES, `@openai/codex-${process.platform}-${process.arch}/vendor`);
  const [program] = existsSync(vendor) ? new Bun.Glob('*/bin/codex').scanSync({ cwd: vendor, absolute: true }) : [];
  return program ?? null;
}

/** Returns the program of Gemini CLI, which Node runs. */
export function findGeminiCli(): string | null {
  const program = join(MODULES, '@google/gemini-cli/bundle/gemini.js');
  return existsSync(program) ? program : null;
}

/** Returns the OpenCode binary for this platform. */
export function findOpenCode(): string | null {
  const program = join(MODULES, `opencode-${process.platform}-${process.arch}/bin/opencode`);
  return existsSync(program) ? program : null;
}
