/**
 * Builds the configuration of the development gateway: every model of the fake upstream on both endpoints. Starts
 * nothing.
 */

/** The variable with the fake upstream's address: the address changes with every run, the file does not. */
export const UPSTREAM_VARIABLE = 'TOLLGATE_DEV_UPSTREAM';

const MODELS = ['ok', 'long:50', 'tool', 'think', 'endless'];
const PRICE = { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5 };

/** A public name is one route: a model has one name over chat completions and another over messages. */
export const CHAT_MODELS = MODELS;
export const MESSAGES_MODELS = MODELS.map((name) => `claude-${name}`);

/**
 * The configuration file, as JSON, which is YAML. Shutdown does not wait for open calls: a restart must not take
 * minutes.
 */
export function renderDevConfig(): string {
  const base_url = `\${${UPSTREAM_VARIABLE}}/v1`;
  const chat = MODELS.map((name) => [name, { targets: [{ provider: 'fake' }], price: PRICE }]);
  const messages = MODELS.map((model) => [
    `claude-${model}`,
    { targets: [{ provider: 'fake-messages', model }], price: PRICE },
  ]);
  const config = {
    limits: { drain: '0s', drain_streams: '0s' },
    providers: {
      fake: { kind: 'openai-compatible', base_url, api_key: 'none' },
      'fake-messages': { kind: 'anthropic', base_url, api_key: 'none' },
    },
    models: Object.fromEntries([...chat, ...messages]),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
