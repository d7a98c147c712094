/**
 * Lists the snippets of agents, curl and client libraries in display order. Source: their own documentation, read
 * 2026-11.
 */
import { exportKey, quoted, rootUrl, type Snippet, shellText, versionUrl } from './snippet.ts';

const HELLO = 'Hello!';

const curl: Snippet = {
  id: 'curl',
  name: 'curl',
  note: null,
  parts: ({ url, model, key }) => [
    {
      what: 'Shell',
      text: [
        `curl ${shellText(`${versionUrl(url)}/chat/completions`)} \\`,
        `  -H ${shellText(`Authorization: Bearer ${key}`)} \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d ${shellText(JSON.stringify({ model, messages: [{ role: 'user', content: HELLO }] }))}`,
      ].join('\n'),
    },
  ],
};

const openAiTypeScript: Snippet = {
  id: 'openai-ts',
  name: 'OpenAI TypeScript',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${quoted(versionUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY });
const answer = await client.chat.completions.create({
  model: ${quoted(fill.model)},
  messages: [{ role: 'user', content: '${HELLO}' }],
});
console.log(answer.choices[0].message.content);`,
    },
  ],
};

const openAiPython: Snippet = {
  id: 'openai-python',
  name: 'OpenAI Python',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.py',
      text: `import os
from openai import OpenAI

client = OpenAI(base_url=${quoted(versionUrl(fill.url))}, api_key=os.environ["TOLLGATE_KEY"])
answer = client.chat.completions.create(
    model=${quoted(fill.model)},
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.choices[0].message.content)`,
    },
  ],
};

const anthropicTypeScript: Snippet = {
  id: 'anthropic-ts',
  name: 'Anthropic TypeScript',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${quoted(rootUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY });
const stream = client.messages.stream({
  model: ${quoted(fill.model)},
  max_tokens: 1024,
  messages: [{ role: 'user', content: '${HELLO}' }],
});
stream.on('text', (text) => process.stdout.write(text));
await stream.finalMessage();`,
    },
  ],
};

const anthropicPython: Snippet = {
  id: 'anthropic-python',
  name: 'Anthropic Python',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.py',
      text: `import os
from anthropic import Anthropic

client = Anthropic(base_url=${quoted(rootUrl(fill.url))}, api_key=os.environ["TOLLGATE_KEY"])
with client.messages.stream(
    model=${quoted(fill.model)},
    max_tokens=1024,
    messages=[{"role": "user", "content": "${HELLO}"}],
) as stream:
    for text in stream.text_stream:
        print(text, end="", flush=True)`,
    },
  ],
};

/** The provider's default is the Responses API. */
const aiSdk: Snippet = {
  id: 'ai-sdk',
  name: 'AI SDK',
  note: 'Keep store: false. Without it, the AI SDK refers to stored responses instead of sending them again.',
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';

const tollgate = createOpenAI({ baseURL: ${quoted(versionUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY });
const { text } = await generateText({
  model: tollgate(${quoted(fill.model)}),
  prompt: '${HELLO}',
  providerOptions: { openai: { store: false } },
});
console.log(text);`,
    },
  ],
};

/** https://openai.github.io/openai-agents-js: the Responses API is its default; traces go to OpenAI. */
const agentsSdk: Snippet = {
  id: 'agents-sdk',
  name: 'Agents SDK',
  note: 'Tracing is off because the SDK sends traces to OpenAI.',
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.mjs',
      text: `import { Agent, run, setDefaultOpenAIClient, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';

setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: ${quoted(versionUrl(fill.url))}, apiKey: process.env.TOLLGATE_KEY }));
const agent = new Agent({
  name: 'Assistant',
  model: ${quoted(fill.model)},
  modelSettings: { store: false },
});
const { finalOutput } = await run(agent, '${HELLO}');
console.log(finalOutput);`,
    },
  ],
};

const langChain: Snippet = {
  id: 'langchain',
  name: 'LangChain',
  note: null,
  parts: (fill) => [
    exportKey(fill),
    {
      what: 'hello.py',
      text: `import os
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(fill.model)},
    base_url=${quoted(versionUrl(fill.url))},
    api_key=os.environ["TOLLGATE_KEY"],
)
print(model.invoke("${HELLO}").content)`,
    },
  ],
};

/** https://code.claude.com/docs/en/llm-gateway: the address without `/v1`, the key as a bearer token. */
const claudeCode: Snippet = {
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

/** https://developers.openai.com/codex/config-reference. It speaks only the Responses API. */
const codex: Snippet = {
  id: 'codex',
  name: 'Codex',
  note: null,
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
      ].join('\n'),
    },
    { what: 'Shell', text: `${exportKey(fill).text}\ncodex` },
  ],
};

/** https://geminicli.com/docs/reference/configuration: without the setting it refuses an address of its own (0.61). */
const geminiCli: Snippet = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  note: null,
  parts: ({ url, model, key }) => [
    {
      what: '~/.gemini/settings.json',
      text: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }, null, 2),
    },
    {
      what: 'Shell',
      text: [
        `export GEMINI_API_KEY=${shellText(key)}`,
        `export GOOGLE_GEMINI_BASE_URL=${shellText(rootUrl(url))}`,
        `export GEMINI_MODEL=${shellText(model)}`,
        'gemini',
      ].join('\n'),
    },
  ],
};

/** https://opencode.ai/docs/providers: a custom provider, with the AI SDK package for this format. */
const openCode: Snippet = {
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

export const SNIPPETS: readonly Snippet[] = [
  claudeCode,
  codex,
  geminiCli,
  openCode,
  curl,
  openAiTypeScript,
  openAiPython,
  anthropicTypeScript,
  anthropicPython,
  agentsSdk,
  aiSdk,
  langChain,
];
