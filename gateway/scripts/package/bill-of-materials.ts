/** Renders the software bill of materials of a package (CycloneDX 1.5) from npm's own, for the parts it carries. */
import { ROOT } from './bundle-program.ts';
import type { Part } from './parts.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly purl: string;
}

interface BillOfMaterials {
  readonly metadata: { readonly tools: unknown };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * npm lists everything that the workspaces depend on; only what the package carries remains. Without a serial number
 * and a time, so that two builds of the same sources are the same.
 */
export async function renderBillOfMaterials(version: string, bun: string, parts: readonly Part[]): Promise<string> {
  const whole = await askNpm();
  const carried = new Set([...parts.map(refOf), `bun@${bun}`]);
  const components = whole.components.filter((component) => carried.has(component['bom-ref']));
  const listed = new Set(components.map((component) => component['bom-ref']));
  const missing = [...carried].filter((ref) => !listed.has(ref));
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}; run npm ci`);
  const ref = `tollgate@${version}`;
  const dependencies = whole.dependencies
    .filter((one) => listed.has(one.ref))
    .map((one) => ({ ref: one.ref, dependsOn: one.dependsOn.filter((other) => listed.has(other)).sort() }));
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        'bom-ref': ref,
        type: 'application',
        name: 'tollgate',
        version,
        purl: `pkg:npm/${ref}`,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components,
    dependencies: [{ ref, dependsOn: [...listed].sort() }, ...dependencies],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function refOf({ name, version }: Part): string {
  return `${name}@${version}`;
}

async function askNpm(): Promise<BillOfMaterials> {
  const npm = Bun.spawn(['npm', 'sbom', '--sbom-format', 'cyclonedx', '--workspaces'], {
    cwd: ROOT,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [text, problems] = await Promise.all([new Response(npm.stdout).text(), new Response(npm.stderr).text()]);
  if ((await npm.exited) !== 0) throw new Error(`npm sbom failed:\n${problems}`);
  return JSON.parse(text);
}
