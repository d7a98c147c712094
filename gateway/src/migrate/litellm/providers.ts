/**
 * Converts the parameters of a LiteLLM deployment to a provider of our configuration.
 * https://docs.litellm.ai/docs/providers and https://docs.litellm.ai/docs/proxy/configs (read 2026-11-23)
 */

/** A value of the file: a text, a number or a list. */
type Value = string | number | boolean | null | readonly Value[] | { readonly [member: string]: Value };
export type Params = { readonly [member: string]: Value };

export type Provider = { readonly [member: string]: string };

/** How a prefix of LiteLLM is called here. `key`: the variable that LiteLLM reads without an `api_key`. */
interface Known {
  readonly provider: Provider;
  readonly key: string | null;
  /** A host that takes another address through `api_base`. */
  readonly base?: 'v1';
}

const compatible = (preset: string, key: string | null): Known => ({
  provider: { kind: 'openai-compatible', preset },
  key,
});
const kind = (name: string, key: string | null): Known => ({ provider: { kind: name }, key });

const KNOWN: Readonly<Record<string, Known>> = {
  openai: kind('openai', 'OPENAI_API_KEY'),
  text_completion_openai: kind('openai', 'OPENAI_API_KEY'),
  anthropic: kind('anthropic', 'ANTHROPIC_API_KEY'),
  gemini: kind('gemini', 'GEMINI_API_KEY'),
  vertex_ai: kind('vertex', null),
  vertex_ai_beta: kind('vertex', null),
  azure: kind('azure', 'AZURE_API_KEY'),
  azure_ai: kind('azure', 'AZURE_AI_API_KEY'),
  bedrock: kind('bedrock', null),
  bedrock_converse: kind('bedrock', null),
  cohere: kind('cohere', 'COHERE_API_KEY'),
  cohere_chat: kind('cohere', 'COHERE_API_KEY'),
  databricks: kind('databricks', 'DATABRICKS_API_KEY'),
  mistral: compatible('mistral', 'MISTRAL_API_KEY'),
  groq: compatible('groq', 'GROQ_API_KEY'),
  openrouter: compatible('openrouter', 'OPENROUTER_API_KEY'),
  deepseek: compatible('deepseek', 'DEEPSEEK_API_KEY'),
  xai: compatible('xai', 'XAI_API_KEY'),
  together_ai: compatible('together', 'TOGETHERAI_API_KEY'),
  fireworks_ai: compatible('fireworks', 'FIREWORKS_API_KEY'),
  perplexity: compatible('perplexity', 'PERPLEXITYAI_API_KEY'),
  cerebras: compatible('cerebras', 'CEREBRAS_API_KEY'),
  sambanova: compatible('sambanova', 'SAMBANOVA_API_KEY'),
  deepinfra: compatible('deepinfra', 'DEEPINFRA_API_KEY'),
  nvidia_nim: compatible('nvidia-nim', 'NVIDIA_NIM_API_KEY'),
  moonshot: compatible('moonshot', 'MOONSHOT_API_KEY'),
  zai: compatible('zai', 'ZAI_API_KEY'),
  dashscope: compatible('alibaba', 'DASHSCOPE_API_KEY'),
  minimax: compatible('minimax', 'MINIMAX_API_KEY'),
  nebius: compatible('nebius', 'NEBIUS_API_KEY'),
  hyperbolic: compatible('hyperbolic', 'HYPERBOLIC_API_KEY'),
  huggingface: compatible('huggingface', 'HF_TOKEN'),
  voyage: compatible('voyage', 'VOYAGE_API_KEY'),
  jina_ai: compatible('jina', 'JINA_AI_API_KEY'),
  ollama: { ...compatible('ollama', null), base: 'v1' },
  ollama_chat: { ...compatible('ollama', null), base: 'v1' },
  hosted_vllm: { ...compatible('vllm', 'HOSTED_VLLM_API_KEY') },
  lm_studio: { ...compatible('lmstudio', 'LM_STUDIO_API_KEY') },
  llamafile: kind('openai-compatible', null),
  openai_like: kind('openai-compatible', 'OPENAI_LIKE_API_KEY'),
  custom_openai: kind('openai-compatible', null),
  litellm_proxy: kind('openai-compatible', 'LITELLM_PROXY_API_KEY'),
  github: compatible('github-models', 'GITHUB_API_KEY'),
};

/** Models that LiteLLM knows without a prefix, as far as their names tell the vendor. */
const BY_NAME: readonly (readonly [name: RegExp, prefix: string])[] = [
  [/^(gpt-|chatgpt-|o[1-9]|text-embedding-|whisper-|tts-|dall-e|omni-moderation|davinci|babbage)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
  [/^(anthropic|amazon|meta|cohere|mistral|ai21)\./, 'bedrock'],
  [/^command-/, 'cohere_chat'],
];

/** Members that say which account pays, or where requests go. */
const CONNECTION: Readonly<Record<string, string>> = {
  api_key: 'api_key',
  aws_region_name: 'region',
  aws_access_key_id: 'access_key_id',
  aws_secret_access_key: 'secret_access_key',
  aws_session_token: 'session_token',
  vertex_project: 'project',
  vertex_location: 'location',
  vertex_credentials: 'credentials',
  tenant_id: 'tenant_id',
  client_id: 'client_id',
  client_secret: 'client_secret',
  api_version: 'api_version',
};
const SECRETS = new Set([
  'api_key',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'vertex_credentials',
  'client_secret',
]);
export const CONNECTION_MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(CONNECTION),
  'api_base',
  'base_url',
  'model',
  'custom_llm_provider',
]);

export interface ProviderPlan {
  readonly provider: Provider;
  /** Its name for the model; null: it has none. */
  readonly model: string;
  /** A name for the provider, not unique. */
  readonly name: string;
  /** Secrets that the file had as texts: the variables that replace them. */
  readonly variables: readonly string[];
}

/** The provider of a deployment, or the reason why it has no provider here. */
export function planProvider(params: Params): ProviderPlan | { readonly why: string } {
  const written = typeof params.model === 'string' ? params.model : '';
  const base = text(params.api_base) ?? text(params.base_url);
  const stated = text(params.custom_llm_provider);
  const slash = written.indexOf('/');
  const before = slash === -1 ? '' : written.slice(0, slash);
  const prefix = stated ?? (Object.hasOwn(KNOWN, before) ? before : null) ?? guess(written);
  const known = prefix === null || !Object.hasOwn(KNOWN, prefix) ? undefined : KNOWN[prefix];
  if (prefix === null || known === undefined) {
    const named = before || written;
    return {
      why: `its provider ${JSON.stringify(named)} is not known; add it as openai-compatible if it speaks chat completions`,
    };
  }
  let model = before === prefix ? written.slice(slash + 1) : written;
  let region: string | undefined;
  if (known.provider.kind === 'bedrock') {
    model = model.replace(/^(converse|invoke|converse_like|mantle)\//, '');
    [, region, model = ''] = /^(?:([a-z]{2}(?:-[a-z]+)+-\d)\/)?(.*)$/s.exec(model) ?? [];
  }
  if (model.includes('*')) return { why: 'a pattern of models; list the models that you serve, each with its target' };
  const variables: string[] = [];
  const provider: Record<string, string> = { ...known.provider };
  for (const [member, ours] of Object.entries(CONNECTION)) {
    const value = text(params[member]);
    if (value === null || (member === 'api_version' && provider.kind !== 'azure')) continue;
    provider[ours] = SECRETS.has(member) ? secretOf(value, `${prefix}_${member}`, variables) : plain(value);
  }
  if (region !== undefined) provider.region ??= region;
  const address = addressOf(provider, base, known.base === 'v1');
  if (address !== null && typeof address === 'object') return address;
  // LiteLLM's documents write OpenAI's own address too.
  if (address !== null && !(provider.kind === 'openai' && address === 'https://api.openai.com/v1')) {
    // The vendor's own kind talks to the vendor; another address speaks its format.
    if (provider.kind === 'openai') provider.kind = 'openai-compatible';
    provider.base_url = address;
  }
  if (provider.kind === 'vertex') provider.credentials ??= 'adc';
  else if (provider.kind === 'bedrock' && provider.access_key_id === undefined && provider.api_key === undefined) {
    provider.credentials = 'chain';
  } else if (
    provider.api_key === undefined &&
    provider.access_key_id === undefined &&
    provider.client_id === undefined
  ) {
    provider.api_key = known.key === null ? 'none' : `\${${known.key}}`;
  }
  return { provider, model, name: prefix.replaceAll('_', '-').replace(/^vertex-ai.*/, 'vertex'), variables };
}

function guess(model: string): string | null {
  return BY_NAME.find(([name]) => name.test(model))?.[1] ?? null;
}

/** Paths that LiteLLM accepts in an address, and the kind adds by itself. */
const PATHS: Readonly<Record<string, readonly RegExp[]>> = {
  anthropic: [/\/v1\/messages\/*$/],
  azure: [/\/openai\/deployments\/.*$/s],
};

/** The address for the file; null: the kind's own. */
function addressOf(
  provider: Provider,
  base: string | null,
  addsVersion: boolean,
): string | null | { readonly why: string } {
  if (base === null) {
    const needs = provider.kind === 'openai-compatible' && provider.preset === undefined;
    const lacksHost = provider.kind === 'azure' || provider.kind === 'databricks';
    return needs || lacksHost ? { why: 'it has no api_base, which its kind needs' } : null;
  }
  const address = (PATHS[provider.kind ?? ''] ?? [])
    .reduce((url, path) => url.replace(path, ''), plain(base))
    .replace(/\/+$/, '');
  if (/^https?:\/\/[^/]*@/.test(address)) return { why: 'its address has a password in it; write the key as api_key' };
  return addsVersion && !address.startsWith('${') && !/\/v1$/.test(address) ? `${address}/v1` : address;
}

/** `os.environ/NAME` is a variable here too. */
function plain(value: string): string {
  const [, name] = /^os\.environ\/(\w+)$/.exec(value) ?? [];
  return name === undefined ? value : `\${${name}}`;
}

/** A secret never gets into the file: one that was written there becomes a variable. */
function secretOf(value: string, name: string, variables: string[]): string {
  const variable = plain(value);
  if (variable !== value) return variable;
  const digest = new Bun.CryptoHasher('sha256').update(value).digest('hex').slice(0, 6).toUpperCase();
  const replaced = `LITELLM_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_${digest}`;
  variables.push(replaced);
  return `\${${replaced}}`;
}

function text(value: Value | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
