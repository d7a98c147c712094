/** Owns what `tollgate serve` prints when it has started: where it listens, the first key, lines that work as pasted. */
import type { App } from '../app.ts';

/** The text for standard output. The first key and the set-up link are the only secrets ever printed, at the first start. */
export function renderFirstWords(app: App, startMs: number): string {
  const { config, routes } = app.gate.settings;
  const base = config.server.publicUrl ?? app.server.url;
  const models = `${routes.size} model ${routes.size === 1 ? 'name' : 'names'}`;
  const lines = [
    `Tollgate listens on ${app.server.url} (${models}, ready in ${Math.round(performance.now() - startMs)} ms).`,
  ];
  lines.push(...app.notices);
  if (config.providersFrom === 'built-in') {
    lines.push('No provider is configured: the built-in models "demo" and "claude-demo" answer, offline and free.');
  }
  if (app.setUpLink !== null) {
    lines.push('', 'Set up the console with this link (it works once, for 15 minutes):', '', `  ${app.setUpLink}`);
  }
  if (app.firstKey !== null)
    lines.push(
      '',
      ...renderFirstKey(app.firstKey, base, { chat: app.suggestModel('chat'), messages: app.suggestModel('messages') }),
    );
  return `${lines.join('\n')}\n`;
}

interface ShownModels {
  readonly chat: string | null;
  readonly messages: string | null;
}

function renderFirstKey(key: string, base: string, models: ShownModels): string[] {
  const lines = ['Your first API key, shown this once:', '', `  ${key}`, ''];
  if (models.chat !== null) {
    const body = { model: models.chat, messages: [{ role: 'user', content: 'Hello!' }] };
    lines.push('Try it:', '', ...renderCurl('curl', `${base}/v1/chat/completions`, key, body), '');
    lines.push(
      'The same as a stream:',
      '',
      ...renderCurl('curl -N', `${base}/v1/chat/completions`, key, { ...body, stream: true }),
      '',
    );
  }
  if (models.messages !== null) {
    const body = { model: models.messages, max_tokens: 256, messages: [{ role: 'user', content: 'Hello!' }] };
    const url = `${base}/v1/messages`;
    lines.push('In the messages format:', '', ...renderCurl('curl', url, key, body), '');
    lines.push('And as a stream:', '', ...renderCurl('curl -N', url, key, { ...body, stream: true }), '');
  }
  return [...lines, 'More keys: bin/tollgate keys create --name NAME'];
}

function renderCurl(command: string, url: string, key: string, body: object): string[] {
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `${command} ${url} \\`,
    `  -H 'authorization: Bearer ${key}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${text}'`,
  ];
}
