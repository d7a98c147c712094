/** Builds the package that npm installs: the bundle, the launcher, and Bun as its only dependency. */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { renderBillOfMaterials } from './bill-of-materials.ts';
import { bundleProgram, ROOT } from './bundle-program.ts';
import { listParts, renderNotices } from './parts.ts';

/** The files of the clone that go along as they are. */
const LAUNCHER = 'gateway/bin';
const TEXTS = ['README.md', 'LICENSE', 'CHANGELOG.md'];

const BILL_OF_MATERIALS = 'sbom.cdx.json';
const NOTICES = 'THIRD-PARTY-NOTICES.txt';

/** Writes `tollgate-VERSION.tgz` to the folder; returns its path. `console`: the folder of the built console. */
export async function packForNpm(folder: string, console: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'tollgate-npm-'));
  try {
    const inputs = await bundleProgram(join(stage, 'src'), { command: 'npx tollgate', console });
    await describeParts(stage, inputs);
    cpSync(join(ROOT, LAUNCHER), join(stage, 'bin'), { recursive: true });
    for (const name of TEXTS) cpSync(join(ROOT, name), join(stage, name));
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(describePackage(), null, 2)}\n`);
    mkdirSync(folder, { recursive: true });
    return await pack(stage, folder);
  } finally {
    rmSync(stage, { recursive: true });
  }
}

/**
 * Writes the bill of materials and the notices of licenses to the folder; returns their paths. `inputs`: the source files
 * of the bundle.
 */
export async function describeParts(folder: string, inputs: readonly string[]): Promise<readonly string[]> {
  const parts = listParts(inputs);
  const bill = await renderBillOfMaterials(manifest.version, manifest.dependencies.bun, parts);
  writeFileSync(join(folder, BILL_OF_MATERIALS), bill);
  writeFileSync(join(folder, NOTICES), renderNotices(parts));
  return [join(folder, BILL_OF_MATERIALS), join(folder, NOTICES)];
}

function describePackage(): object {
  const { name, version, license, type, bin, dependencies } = manifest;
  return {
    name,
    version,
    description:
      'An LLM gateway: one address for every model, API keys with budgets, a durable record of each request.',
    license,
    type,
    bin,
    engines: { node: '>=18' },
    dependencies: { bun: dependencies.bun },
  };
}

async function pack(stage: string, folder: string): Promise<string> {
  const npm = Bun.spawn(['npm', 'pack', '--silent', '--pack-destination', stage], {
    cwd: stage,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [printed, problems] = await Promise.all([new Response(npm.stdout).text(), new Response(npm.stderr).text()]);
  if ((await npm.exited) !== 0) throw new Error(`npm pack failed:\n${problems}`);
  const name = printed.trim().split('\n').at(-1) ?? '';
  cpSync(join(stage, name), join(folder, `${name}.part`));
  renameSync(join(folder, `${name}.part`), join(folder, name));
  return join(folder, name);
}
