/**
 * Tests `tollgate connect` in its own home folder against a real gateway: what it writes, shows, tries, refuses and
 * restores.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { type RunningGateway, startGateway } from '../../../test/harness/start-gateway.ts';
import { backupPath } from '../../connect/change-file.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { CliFailure } from '../environment.ts';
import { register } from './connect.ts';

const newFolder = temporaryFolders();
let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

let home: string;
beforeEach(() => {
  home = newFolder();
});

/** Runs `connect` with these arguments, from an empty folder: the gateway itself reports its address. */
const connect = (...words: string[]) => connectFrom({ dataDir: gateway.dataDir, variables: {} }, words);

async function connectFrom(
  { dataDir, variables }: { readonly dataDir: string; readonly variables: Readonly<Record<string, string>> },
  words: readonly string[],
) {
  let [stdout, stderr] = ['', ''];
  const environment = {
    dataDir,
    stdout(text: string) {
      stdout += text;
    },
    stderr(text: string) {
      stderr += text;
    },
    nowMs: Date.now,
  };
  const program = new Command('tollgate').exitOverride().configureOutput({ writeErr: environment.stderr });
  register(program, environment, { home, cwd: newFolder(), variables });
  try {
    await program.parseAsync(['connect', ...words], { from: 'user' });
    return { exitCode: 0, stdout, stderr };
  } catch (fault) {
    if (fault instanceof CliFailure) return { exitCode: fault.exitCode, stdout, stderr: stderr + fault.message };
    if (fault instanceof CommanderError) return { exitCode: 2, stdout, stderr };
    throw fault;
  }
}

const FILES = {
  claude: '.claude/settings.json',
  codex: '.codex/config.toml',
  gemini: '.gemini/.env',
  opencode: '.config/opencode/opencode.json',
  aider: '.aider.conf.yml',
  continue: '.continue/config.yaml',
} as const;
const BEFORE = {
  claude: '{\n  "model": "opus",\n  "env": { "DISABLE_TELEMETRY": "1" }\n}\n',
  codex: '# mine\napproval_policy = "never"\n\n[tui]\nnotifications = true\n',
  gemini: '# mine\nexport GEMINI_SANDBOX=false\n',
  opencode: '{\n  // mine\n  "theme": "system"\n}\n',
  aider: '# mine\ndark-mode: true\n',
  continue: 'name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: Other\n    provider: ollama\n    model: o\n',
} as const;
type Name = keyof typeof FILES;
const PROTOCOLS: Readonly<Record<Name, string>> = {
  claude: 'messages',
  codex: 'responses',
  gemini: 'gemini',
  opencode: 'chat',
  aider: 'chat',
  continue: 'chat',
};
const names = Object.keys(FILES) as Name[];
const model = (name: Name) => (name === 'claude' ? [] : ['--model', 'demo']);

function place(name: Name, text: string | null = BEFORE[name]): string {
  const file = join(home, FILES[name]);
  if (text === null) return file;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

async function keyStatus(name: string): Promise<unknown[]> {
  const { status, stdout, stderr } = await gateway.run('keys', 'list', '--json');
  if (status !== 0) throw new Error(`keys list ended with ${status}: ${stderr}`);
  const keys = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { name: string; status: string });
  return keys.filter((key) => key.name === name).map((key) => key.status);
}

describe.each(names)('%s', (name) => {
  test('is connected with a key of its own, and put back as it was', async () => {
    const file = place(name);
    const outcome = await connect(name, ...model(name));
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    const written = readFileSync(file, 'utf8');
    const [key] = /tg_[0-9A-Za-z]{49}/.exec(written) ?? [];
    expect(key).toBeDefined();
    expect(written).toContain(gateway.url.replace('localhost', '127.0.0.1'));
    for (const line of BEFORE[name].split('\n')) expect(written).toContain(line.trim().replace(/[ }]+$/, ''));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(outcome.stdout).not.toContain(key ?? 'a key');
    expect(outcome.stdout).toContain(backupPath(file));
    expect((await keyStatus(name)).at(-1)).toBe('active');
    const [record] = await gateway.calls('--limit', '1');
    expect(record).toMatchObject({ status: 200, protocol: PROTOCOLS[name] });
    const again = await connect(name, ...model(name));
    expect(again.exitCode).toBe(0);
    const undone = await connect(name, '--undo');
    expect(undone.stdout).toContain('tollgate keys revoke key_');
    expect(readFileSync(file, 'utf8')).toBe(BEFORE[name]);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(existsSync(backupPath(file))).toBe(false);
  });

  test('without a file gets one, which undo removes', async () => {
    const file = place(name, null);
    expect(await connect(name, '--key', gateway.key, ...model(name))).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readFileSync(file, 'utf8')).toContain(gateway.key);
    expect((await connect(name, '--undo')).exitCode).toBe(0);
    expect(existsSync(file)).toBe(false);
  });

  test('in a dry run only shows the difference, and creates no key', async () => {
    const file = place(name);
    const keys = await keyStatus(name);
    const { exitCode, stdout } = await connect(name, '--dry-run', ...model(name));
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\+ .*\[key\]/m);
    expect(stdout).not.toContain('tg_');
    expect(readFileSync(file, 'utf8')).toBe(BEFORE[name]);
    expect(existsSync(backupPath(file))).toBe(false);
    expect(await keyStatus(name)).toEqual(keys);
  });
});

test('Claude Code gets the address without /v1, and the model that was named', async () => {
  const file = place('claude', null);
  await connect('claude', '--key', gateway.key, '--url', `${gateway.url}/v1/`, '--model', 'claude-demo');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    env: {
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: gateway.key,
      ANTHROPIC_MODEL: 'claude-demo',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-demo',
    },
  });
});

test('Codex gets the address with /v1, and a provider of its own in place of an earlier one', async () => {
  const file = place('codex', 'model = "old"\n\n[model_providers.tollgate]\nenv_key = "TOLLGATE_KEY"\n');
  await connect('codex', '--key', gateway.key, '--url', gateway.url, '--model', 'demo');
  expect(Bun.TOML.parse(readFileSync(file, 'utf8'))).toEqual({
    model: 'demo',
    model_provider: 'tollgate',
    model_providers: {
      tollgate: { name: 'Tollgate', base_url: `${gateway.url}/v1`, experimental_bearer_token: gateway.key },
    },
  });
});

describe('Gemini CLI', () => {
  const settings = () => join(home, '.gemini/settings.json');
  const args = () => ['gemini', '--key', gateway.key, '--url', gateway.url, '--model', 'demo'];

  test('gets its variables, and the setting without which it ignores them', async () => {
    const file = place('gemini', '# mine\nGEMINI_MODEL = "old"\n');
    writeFileSync(settings(), '{\n  // mine\n  "ui": { "theme": "Ayu" }\n}\n');
    const outcome = await connect(...args());
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    for (const changed of [file, settings()]) expect(outcome.stdout).toContain(`${changed} was changed`);
    expect(readFileSync(file, 'utf8')).toBe(
      `# mine\nGEMINI_MODEL=demo\nGEMINI_API_KEY=${gateway.key}\nGOOGLE_GEMINI_BASE_URL=${gateway.url}\n`,
    );
    expect(readFileSync(settings(), 'utf8')).toContain('"selectedType": "gemini-api-key"');
    expect(readFileSync(settings(), 'utf8')).toContain('// mine');
  });

  test('an undo restores both files, or none', async () => {
    const file = place('gemini');
    await connect(...args());
    const written = readFileSync(settings(), 'utf8');
    writeFileSync(settings(), '{}');
    expect(await connect('gemini', '--undo')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('settings.json has changed since'),
    });
    expect(readFileSync(file, 'utf8')).toContain(gateway.key);
    writeFileSync(settings(), written);
    expect((await connect('gemini', '--undo')).exitCode).toBe(0);
    expect([readFileSync(file, 'utf8'), existsSync(settings())]).toEqual([BEFORE.gemini, false]);
  });

  test('a file that cannot be changed leaves the other one alone', async () => {
    const file = place('gemini');
    writeFileSync(settings(), '[');
    expect((await connect(...args())).stderr).toContain('settings.json cannot be changed');
    expect(readFileSync(file, 'utf8')).toBe(BEFORE.gemini);
  });

  test('a file that cannot be written leaves the other one as it was', async () => {
    const file = place('gemini');
    mkdirSync(backupPath(settings()));
    const outcome = await connect('gemini', '--url', gateway.url, '--model', 'demo');
    expect([outcome.exitCode, readFileSync(file, 'utf8'), existsSync(backupPath(file))]).toEqual([
      1,
      BEFORE.gemini,
      false,
    ]);
    expect(outcome.stderr).toContain(`Not changed: ${file}, ${settings()}.`);
  });

  test('in JSON, each file is a line', async () => {
    place('gemini');
    const lines = (await connect(...args(), '--dry-run', '--json')).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).changed)).toEqual([false, false]);
  });
});

test('the address is that of the server that runs here; where none does, as it is configured', async () => {
  expect((await connect('claude', '--dry-run')).stdout).toContain(gateway.url);
  const idle = { dataDir: newFolder(), variables: { PORT: '18080' } };
  expect((await connectFrom(idle, ['claude', '--dry-run'])).stdout).toContain('http://127.0.0.1:18080');
});

describe('nothing is changed', () => {
  test('a failed test request revokes the new key', async () => {
    const file = place('aider');
    const outcome = await connect('aider', '--model', 'nobody-serves-this');
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('HTTP 403');
    expect(outcome.stderr).toContain(`Not changed: ${file}`);
    expect(readFileSync(file, 'utf8')).toBe(BEFORE.aider);
    expect((await keyStatus('aider')).at(-1)).toBe('revoked');
  });

  test('where no gateway answers', async () => {
    place('claude');
    const outcome = await connect('claude', '--key', gateway.key, '--url', 'http://127.0.0.1:1');
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No gateway answers') });
  });

  test('an invalid file is reported with its position, and no key is created', async () => {
    place('claude', '{ "env": [');
    const keys = await keyStatus('claude');
    expect((await connect('claude')).stderr).toContain('settings.json cannot be changed: line 1');
    expect(await keyStatus('claude')).toEqual(keys);
  });
});

test('an undo that would lose later changes is refused', async () => {
  const file = place('aider');
  await connect('aider', '--key', gateway.key, '--model', 'demo');
  writeFileSync(file, `${readFileSync(file, 'utf8')}auto-commits: false\n`);
  expect(await connect('aider', '--undo')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('has changed since'),
  });
  expect(readFileSync(file, 'utf8')).toContain('auto-commits');
});

describe('is refused', () => {
  test.each([
    [['emacs'], 2, 'Expected one of claude, codex, gemini, opencode, aider, continue.'],
    [['cline'], 2, 'OpenAI Compatible'],
    [['codex'], 2, 'Codex needs a model; expected --model NAME'],
    [['toString'], 2, 'toString cannot be connected.'],
    [['aider'], 2, 'expected --model NAME'],
    [['claude', '--url', 'ftp://x'], 2, 'expected an address'],
    [['claude', '--undo'], 1, 'Nothing to undo'],
    [['claude', '--undo', '--dry-run'], 2, "option '--undo' cannot be used with option '--dry-run'"],
    [['claude', '--undo', '--key', 'k'], 2, "option '--undo' cannot be used with option '--key <key>'"],
  ])('%p', async (words, exitCode, message) => {
    expect(await connect(...words)).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
  });

  test('a missing model, with the models that the key may use', async () => {
    const outcome = await connect('opencode', '--key', gateway.key);
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/one of: .*demo/) });
  });
});
