/** Owns the first lines that somebody pastes: a call as curl and from the clients that most people begin with. */

export interface SnippetFill {
  /** As callers reach the gateway, without `/v1`. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

export const CLIENTS = [
  ['curl', 'curl'],
  ['claude-code', 'Claude Code'],
  ['openai', 'OpenAI SDK'],
] as const;
export type Client = (typeof CLIENTS)[number][0];

export function renderSnippet(client: Client, { url, key, model }: SnippetFill): string {
  const base = url.replace(/\/+$/, '');
  switch (client) {
    case 'curl':
      return [
        `curl ${base}/v1/chat/completions \\`,
        `  -H ${shellQuoted(`authorization: Bearer ${key}`)} \\`,
        "  -H 'content-type: application/json' \\",
        `  -d ${shellQuoted(JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }))}`,
      ].join('\n');
    case 'claude-code':
      return [
        `export ANTHROPIC_BASE_URL=${shellQuoted(base)}`,
        `export ANTHROPIC_AUTH_TOKEN=${shellQuoted(key)}`,
        `export ANTHROPIC_MODEL=${shellQuoted(model)}`,
        `claude -p 'Hello!'`,
      ].join('\n');
    case 'openai':
      return [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${JSON.stringify(`${base}/v1`)}, api_key=${JSON.stringify(key)})`,
        'reply = client.chat.completions.create(',
        `    model=${JSON.stringify(model)},`,
        '    messages=[{"role": "user", "content": "Hello!"}],',
        ')',
        'print(reply.choices[0].message.content)',
      ].join('\n');
  }
}

/** For a POSIX shell, whatever the text holds. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
