/** Tests what becomes of the models of a LiteLLM configuration. */
import { describe, expect, test } from 'bun:test';
import { createNotes } from './notes.ts';
import { planModels } from './plan-models.ts';
import { type Params, planProvider } from './providers.ts';
import { renderConfigFile, variablesIn } from './read-config.ts';

const variable = (name: string) => ['$', `{${name}}`].join('');
const deployment = (model_name: string, litellm_params: Params, more: Params = {}): Params => ({
  model_name,
  litellm_params,
  ...more,
});

function plan(...given: readonly Params[]) {
  const notes = createNotes();
  const [model_list, more = {}] = [
    given.filter((each) => 'model_name' in each),
    given.find((each) => !('model_name' in each)),
  ];
  return { ...planModels({ model_list, ...more }, notes), notes: notes.list() };
}

describe('planProvider', () => {
  test('knows the providers by prefix or by name, with the variables that LiteLLM reads', () => {
    for (const [params, expected] of [
      [{ model: 'gpt-4o' }, { provider: { kind: 'openai', api_key: variable('OPENAI_API_KEY') }, model: 'gpt-4o' }],
      [
        { model: 'anthropic/claude-x' },
        { provider: { kind: 'anthropic', api_key: variable('ANTHROPIC_API_KEY') }, model: 'claude-x' },
      ],
      [
        { model: 'groq/llama', api_key: 'os.environ/MY_GROQ' },
        { provider: { kind: 'openai-compatible', preset: 'groq', api_key: variable('MY_GROQ') }, model: 'llama' },
      ],
      [
        { model: 'openrouter/anthropic/claude' },
        {
          provider: { kind: 'openai-compatible', preset: 'openrouter', api_key: variable('OPENROUTER_API_KEY') },
          model: 'anthropic/claude',
        },
      ],
      [
        {
          model: 'azure/my-gpt',
          api_base: 'https://acme.openai.azure.com/',
          api_key: 'os.environ/AZ',
          api_version: '2024-10-21',
        },
        {
          provider: {
            kind: 'azure',
            api_key: variable('AZ'),
            api_version: '2024-10-21',
            base_url: 'https://acme.openai.azure.com',
          },
          model: 'my-gpt',
        },
      ],
      [
        { model: 'bedrock/converse/anthropic.claude', aws_region_name: 'eu-central-1' },
        { provider: { kind: 'bedrock', region: 'eu-central-1', credentials: 'chain' }, model: 'anthropic.claude' },
      ],
      [
        { model: 'vertex_ai/gemini-3', vertex_project: 'p', vertex_location: 'eu' },
        { provider: { kind: 'vertex', project: 'p', location: 'eu', credentials: 'adc' }, model: 'gemini-3' },
      ],
      [
        { model: 'ollama/qwen', api_base: 'http://gpu:11434' },
        {
          provider: { kind: 'openai-compatible', preset: 'ollama', api_key: 'none', base_url: 'http://gpu:11434/v1' },
          model: 'qwen',
        },
      ],
      [
        { model: 'bedrock/us-west-2/anthropic.claude' },
        { provider: { kind: 'bedrock', region: 'us-west-2', credentials: 'chain' }, model: 'anthropic.claude' },
      ],
      [
        { model: 'bedrock/converse/us-gov-west-1/anthropic.claude', aws_region_name: 'os.environ/REGION' },
        { provider: { kind: 'bedrock', region: variable('REGION') }, model: 'anthropic.claude' },
      ],
      [
        { model: 'bedrock/arn:aws:bedrock:us-west-2:1:inference-profile/us.x' },
        { model: 'arn:aws:bedrock:us-west-2:1:inference-profile/us.x' },
      ],
      [
        { model: 'anthropic/claude-x', api_base: 'https://corp.example/anthropic/v1/messages' },
        { provider: { kind: 'anthropic', base_url: 'https://corp.example/anthropic' } },
      ],
      [
        {
          model: 'azure/my-gpt',
          api_base: 'https://acme.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21',
        },
        { provider: { kind: 'azure', base_url: 'https://acme.openai.azure.com' }, model: 'my-gpt' },
      ],
      [
        { model: 'openai/mine', api_base: 'http://lab:9100/v1', api_key: 'none' },
        { provider: { kind: 'openai-compatible', base_url: 'http://lab:9100/v1' }, model: 'mine' },
      ],
    ] as const) {
      expect(planProvider(params)).toMatchObject(expected);
    }
  });

  test("OpenAI's own address is OpenAI's", () => {
    const provider = { kind: 'openai', api_key: variable('OPENAI_API_KEY') };
    for (const api_base of ['https://api.openai.com/v1', 'https://api.openai.com/v1/']) {
      expect(planProvider({ model: 'openai/gpt-4o', api_base })).toMatchObject({ provider });
      expect(planProvider({ model: 'openai/gpt-4o', api_base })).not.toHaveProperty('provider.base_url');
    }
  });

  test('an unknown provider has a reason', () => {
    for (const model of ['sagemaker/x', 'openai/*', 'azure/no-base', 'mystery', '__proto__/x', '']) {
      expect([model, planProvider({ model })]).toEqual([model, { why: expect.any(String) }]);
    }
  });

  test('a secret in the file becomes a variable, and is nowhere in the new file', () => {
    const { variables, ...rest } = plan(deployment('a', { model: 'groq/x', api_key: 'gsk_secret' }));
    expect(variables).toEqual([expect.stringMatching(/^LITELLM_GROQ_API_KEY_[0-9A-F]{6}$/)]);
    const text = renderConfigFile({ variables, ...rest });
    expect(text).not.toContain('gsk_secret');
    expect(variablesIn(text)).toEqual(variables);
  });
});

describe('planModels', () => {
  test('deployments share, fallbacks follow, and special fallbacks are named', () => {
    const { models, notes } = plan(
      deployment('a', { model: 'openai/one', weight: 3 }),
      deployment('a', { model: 'groq/two', order: 2, timeout: 1.5 }),
      deployment('b', { model: 'anthropic/three' }),
      deployment('long', { model: 'gemini/four' }),
      {
        router_settings: { fallbacks: [{ a: ['b', 'gone'] }], num_retries: 3, routing_strategy: 'least-busy' },
        litellm_settings: { context_window_fallbacks: [{ a: ['long'] }] },
      },
    );
    expect(models.get('a')).toEqual({
      routing: { strategy: 'weight', max_extra_attempts: 3, fallback_on: ['overflow'] },
      targets: [
        { provider: 'openai', model: 'one', weight: 3 },
        { provider: 'groq', model: 'two', priority: 2, timeouts: { total: '1500ms' }, weight: 1 },
        { provider: 'anthropic', model: 'three', priority: 3 },
        { provider: 'gemini', model: 'four', priority: 4 },
      ],
    });
    expect(notes.map(({ what }) => what)).toEqual([
      'fallbacks',
      'context_window_fallbacks, content_policy_fallbacks',
      'routing_strategy least-busy',
    ]);
  });

  test('prices per token are prices per million, to the last digit', () => {
    const { models } = plan(
      deployment('a', {
        model: 'x/y',
        custom_llm_provider: 'openai',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 0.00001,
      }),
    );
    expect(models.get('a')?.targets[0]?.price).toEqual({ input: '2.5', output: '10' });
  });

  test('aliases, access groups and shared providers', () => {
    const { models, providers, accessGroups } = plan(
      deployment('a', { model: 'openai/one' }, { model_info: { access_groups: ['cheap'] } }),
      deployment('b', { model: 'openai/two' }, { model_info: { access_groups: ['cheap'] } }),
      deployment('c', { model: 'openai/two', api_key: 'os.environ/OTHER' }),
      { router_settings: { model_group_alias: { small: 'a', tiny: { model: 'a', hidden: true } } } },
    );
    expect([...providers.keys()]).toEqual(['openai', 'openai-2']);
    expect(models.get('a')?.alias).toEqual(['small', 'tiny']);
    expect(accessGroups.get('cheap')).toEqual(['a', 'b']);
  });

  test('nothing is left out in silence: aliases, fallbacks with members of their own, other logins', () => {
    const { models, notes } = plan(
      deployment('a', { model: 'openai/one', aws_role_name: 'arn:aws:iam::1:role/x', temperature: 0.2 }),
      deployment('b', { model: 'openai/two' }),
      {
        router_settings: { model_group_alias: { lost: 'gone', both: ['a', 'b'], ok: 'a' } },
        litellm_settings: { fallbacks: [{ a: [{ model: 'b', max_tokens: 5 }] }] },
      },
    );
    expect(models.get('a')).toEqual({ alias: ['ok'], targets: [{ provider: 'openai', model: 'one' }] });
    const found = notes.map(({ kind, what, why, names }) => `${kind} ${what}: ${why} (${names})`);
    expect(found).toEqual([
      expect.stringMatching(
        /^dropped litellm_params.aws_role_name: its requests would go out with another login.*\(a\)$/,
      ),
      'dropped litellm_params.temperature: clients send it here (a)',
      'dropped model_group_alias: there is no model "gone" here (lost)',
      'dropped model_group_alias: an alias is for one model here (both)',
      'dropped fallbacks: a fallback here is a model, without members of its own (a)',
    ]);
  });
});
