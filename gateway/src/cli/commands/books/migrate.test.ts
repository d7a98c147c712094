/** Tests what the report of `tollgate migrate-from litellm` says about the new configuration file. */
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { temporaryFolders } from '../../../store/testing/temporary-folder.ts';
import { runProgram } from '../../testing/run-program.ts';

const newFolder = temporaryFolders();

interface Note {
  readonly kind: string;
  readonly what: string;
  readonly names: readonly string[];
}

async function migrate(config: object): Promise<{ todo: readonly Note[]; text: string }> {
  const folder = newFolder();
  const [file, out] = [join(folder, 'config.yaml'), join(folder, 'tollgate.yaml')];
  writeFileSync(file, stringify(config));
  const words = ['migrate-from', 'litellm', '--config', file, '--out', out, '--json'];
  const { exitCode, stdout, stderr } = await runProgram(join(folder, 'data'), ...words);
  expect([exitCode, stderr]).toEqual([0, '']);
  const notes: readonly Note[] = JSON.parse(stdout).notes;
  return { todo: notes.filter(({ kind }) => kind === 'todo'), text: readFileSync(out, 'utf8') };
}

test('variables that are not set here are no mistakes, and models without a price are named', async () => {
  const { todo } = await migrate({
    model_list: [
      {
        model_name: 'gemini',
        litellm_params: {
          model: 'vertex_ai/gemini-2.5-pro',
          vertex_project: 'os.environ/NO_PROJECT_HERE',
          vertex_location: 'os.environ/NO_LOCATION_HERE',
          vertex_credentials: 'os.environ/NO_CREDENTIALS_HERE',
        },
      },
      {
        model_name: 'claude',
        litellm_params: { model: 'bedrock/anthropic.claude', aws_region_name: 'os.environ/NO_REGION_HERE' },
      },
      { model_name: 'lab', litellm_params: { model: 'openai/qwen', api_base: 'os.environ/NO_ADDRESS_HERE' } },
    ],
  });
  expect(todo.map(({ what }) => what)).toEqual(['a variable of the new file', 'models without a price']);
  expect(todo[0]?.names).toContain('NO_CREDENTIALS_HERE');
  expect(todo[1]?.names).toContain('lab (openai/qwen)');
});

test('a LiteLLM with its models in the database, or with patterns only, leaves a file that can be served', async () => {
  for (const config of [
    { general_settings: { master_key: 'sk-1', store_model_in_db: true } },
    { model_list: [{ model_name: '*', litellm_params: { model: '*' } }] },
    { model_list: null },
  ]) {
    const { todo, text } = await migrate(config);
    expect(todo.filter(({ what }) => what.startsWith('the new file'))).toEqual([]);
    expect(text).not.toContain('providers');
  }
});

test.each([
  ['none/tollgate.yaml', 'the file cannot be written (ENOENT), expected an existing folder'],
  ['.', 'found a file that cannot be read (EISDIR), expected a readable file'],
])('a new file that cannot be at %s ends the command before anything is imported', async (out, message) => {
  const folder = newFolder();
  const config = join(folder, 'config.yaml');
  writeFileSync(config, JSON.stringify({ model_list: null }));
  const path = join(folder, out);
  const words = ['migrate-from', 'litellm', '--config', config, '--out', path];
  const refused = await runProgram(join(folder, 'data'), ...words);
  expect(refused).toMatchObject({ exitCode: 1, stderr: `--out ${path}: ${message}` });
});
