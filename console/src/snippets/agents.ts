/** Defines the snippets of coding agents. Source: the agents' own documentation, read 2026-11. */
import { exportKey, quoted, rootUrl, type Snippet, shellText, versionUrl } from './snippet.ts';

/** https://code.claude.com/docs/en/llm-gateway: the address without `/v1`, the key as a bearer token. */
export const claudeCode: Snippet = {
  id: 'claude-code',
  name: 'Claude Code',
  note: 'If ANTHROPIC_API_KEY is set, unset it. Otherwise Claude Code asks which of the two keys to use.',
  parts: ({ url, model, key }) => [
    {
      what: 'Shell',
      text: [
        `export ANTHROPIC_BASE_URL=${shellText(rootUrl(url))}`,
        `export ANTHROPIC_AUTH_TOKEN=${shellText(key)}`,
        `export ANTHROPIC_MODEL=${shellText(model)}`,
        '# Model for small tasks, such as titles',
        `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${shellText(model)}`,
        'claude',
      ].join('\n'),
    },
  ],
};

/** Codex removed chat completions in 0.97 (https://github.com/openai/codex/pull/10157, 2026-02). */
export const codex: Snippet = {
  id: 'codex',
  name: 'Codex',
  note: 'Codex 0.97 and later support only the Responses API, which Tollgate doesn’t serve yet. This snippet installs 0.94, the last version known to support chat completions.',
  parts: (fill) => [
    {
      what: '~/.codex/config.toml',
      text: [
        `model = ${quoted(fill.model)}`,
        'model_provider = "tollgate"',
        '',
        '[model_providers.tollgate]',
        'name = "Tollgate"',
        `base_url = ${quoted(versionUrl(fill.url))}`,
        'env_key = "TOLLGATE_KEY"',
        'wire_api = "chat"',
      ].join('\n'),
    },
    {
      what: 'Shell',
      text: ['npm install -g @openai/codex@0.94.0', exportKey(fill).text, 'codex'].join('\n'),
    },
  ],
};

/** https://opencode.ai/docs/providers: a custom provider, with the AI SDK package for this format. */
export const openCode: Snippet = {
  id: 'opencode',
  name: 'OpenCode',
  note: null,
  parts: (fill) => [
    {
      what: 'opencode.json',
      text: JSON.stringify(
        {
          $schema: 'https://opencode.ai/config.json',
          provider: {
            tollgate: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Tollgate',
              options: { baseURL: versionUrl(fill.url), apiKey: '{env:TOLLGATE_KEY}' },
              models: { [fill.model]: {} },
            },
          },
        },
        null,
        2,
      ),
    },
    { what: 'Shell', text: `${exportKey(fill).text}\nopencode -m ${shellText(`tollgate/${fill.model}`)}` },
  ],
};
