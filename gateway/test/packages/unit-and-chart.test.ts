/** Tests the unit of systemd and the Helm chart, as far as this machine has the tools of either. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../../scripts/package/bundle-program.ts';

const UNIT = join(ROOT, 'deploy/tollgate.service');
const CHART = join(ROOT, 'deploy/helm/tollgate');
const has = (program: string): boolean => Bun.which(program) !== null;

describe('systemd', () => {
  test.skipIf(!has('systemd-analyze'))('accepts the unit, and finds it well confined (needs systemd-analyze)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-unit-'));
    try {
      const unit = join(folder, 'tollgate.service');
      // It wants the program to exist.
      writeFileSync(
        unit,
        readFileSync(UNIT, 'utf8').replace('ExecStart=/usr/local/bin/tollgate', 'ExecStart=/bin/true'),
      );
      const verified = Bun.spawnSync(['systemd-analyze', 'verify', unit]);
      expect([verified.exitCode, verified.stderr.toString()]).toEqual([0, '']);
      const assessed = Bun.spawnSync(['systemd-analyze', 'security', '--offline=yes', '--threshold=20', unit]);
      expect(assessed.exitCode).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a stop waits longer than a shutdown may last, and the engine may compile', () => {
    const unit = readFileSync(UNIT, 'utf8');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(610);
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute=yes/m);
  });
});

describe('Helm chart', () => {
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const templates = readdirSync(join(CHART, 'templates')).map((name) => ({
    name,
    text: readFileSync(join(CHART, 'templates', name), 'utf8'),
  }));

  test('its version is the program’s', () => {
    const { version, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
    expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
  });

  test('every value that a template reads exists, and every value is read', () => {
    const texts = templates.map(({ text }) => text).join('\n');
    const read = new Set([...texts.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path));
    for (const path of read) {
      const found = path.split('.').reduce((part, name) => part?.[name], values);
      expect({ path, found: found !== undefined }).toEqual({ path, found: true });
    }
    const tops = new Set([...read].map((path) => path.split('.')[0] ?? ''));
    expect([...tops].sort()).toEqual(Object.keys(values).sort());
  });

  test.each(templates)('the blocks of $name are closed', ({ text }) => {
    const opened = [...text.matchAll(/\{\{-?\s*(if|with|range|define)\b/g)].length;
    expect([...text.matchAll(/\{\{-?\s*end\b/g)].length).toBe(opened);
  });

  test.skipIf(!has('helm'))('helm accepts it, and renders one confined pod (needs helm)', () => {
    const linted = Bun.spawnSync(['helm', 'lint', '--strict', CHART]);
    expect([linted.exitCode, linted.stdout.toString()]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
    const settings = ['--set', 'config.server.console=false', '--set', 'environment[0].name=A,environment[0].value=b'];
    const rendered = Bun.spawnSync(['helm', 'template', 'gate', CHART, ...settings]);
    expect([rendered.exitCode, rendered.stderr.toString()]).toEqual([0, '']);
    const documents = parseAllDocuments(rendered.stdout.toString()).map((document) => document.toJS());
    expect(documents.map(({ kind }) => kind).sort()).toEqual(['ConfigMap', 'Service', 'StatefulSet']);
    const { spec } = documents.find(({ kind }) => kind === 'StatefulSet');
    expect(spec.replicas).toBe(1);
    const [container] = spec.template.spec.containers;
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.env).toContainEqual({ name: 'A', value: 'b' });
    expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
    expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(610);
    const config = documents.find(({ kind }) => kind === 'ConfigMap');
    expect(parse(config.data['tollgate.yaml'])).toEqual({ server: { console: false } });
  });
});
