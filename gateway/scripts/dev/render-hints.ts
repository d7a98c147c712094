/**
 * Renders the text that `npm run dev` prints once the gateway listens: the key, the models, and example commands that
 * work as pasted.
 */
import { CHAT_MODELS, MESSAGES_MODELS } from './dev-config.ts';

interface Hints {
  readonly gatewayUrl: string;
  readonly fakeUrl: string;
  readonly key: string;
}

const MESSAGES = [{ role: 'user', content: 'Hello!' }];

/** Includes the key, because it works only for this scratch gateway. */
export function renderHints({ gatewayUrl, fakeUrl, key }: Hints): string {
  const chat = `${gatewayUrl}/v1/chat/completions`;
  const messages = `${gatewayUrl}/v1/messages`;
  return [
    '',
    `The fake upstream is ${fakeUrl}; its requests: curl ${fakeUrl}/__fake/served`,
    `Models over chat completions: ${CHAT_MODELS.join(', ')}`,
    `Models over messages: ${MESSAGES_MODELS.join(', ')}`,
    'Models named endless never stop: stream them, and stop with Ctrl-C.',
    `The key, the same at every run: ${key}`,
    '',
    ...renderCurl(chat, key, { model: 'ok', messages: MESSAGES }),
    '',
    ...renderCurl(chat, key, { model: 'long:50', stream: true, messages: MESSAGES }),
    '',
    ...renderCurl(messages, key, { model: 'claude-ok', max_tokens: 256, messages: MESSAGES }),
    '',
    ...renderCurl(messages, key, { model: 'claude-long:50', max_tokens: 256, stream: true, messages: MESSAGES }),
    '',
    'It restarts when a file under gateway/src changes. Ctrl-C ends it.',
    '',
  ].join('\n');
}

function renderCurl(url: string, key: string, body: object): string[] {
  return [
    `curl -N ${url} \\`,
    `  -H 'authorization: Bearer ${key}' \\`,
    "  -H 'content-type: application/json' \\",
    `  -d '${JSON.stringify(body)}'`,
  ];
}
