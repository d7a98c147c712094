/** Tests that each fault of a file or an environment is reported once, with place, finding, expectation and remedy. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { CLIENT_PROTOCOL_NAMES } from '../protocols/names.ts';
import { KINDS } from '../providers/registry.ts';
import { renderConfigProblem } from './file/config-problem.ts';
import { providerSchema } from './file/provider-schema.ts';
import { LIMITS } from './limits.ts';
import { loadConfig } from './load-config.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-faults-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function faults(content: string | Uint8Array, environment: { readonly [name: string]: string } = {}): string[] {
  writeFileSync(join(cwd, 'f.yaml'), content);
  const { config, problems } = loadConfig({ file: 'f.yaml', environment, cwd });
  expect(config === null).toBe(problems.length > 0);
  return problems.map(renderConfigProblem);
}

const KIND_NAMES = KINDS.map(({ name }) => name).join(', ');
const LAB =
  'providers: { lab: { kind: openai-compatible, base_url: http://h/v1 }, claude: { kind: anthropic, api_key: x } }\n';
const PRICE_FORMS_EXPECTED =
  'expected free, or a mapping with input and output, or a list of such mappings, each but one with from. Write { input: 0.25, output: 2.00 } (USD per million tokens), or free.';
const BEGINNING_EXPECTED =
  'expected a different start for each price; one price may have none. Give it another from, or remove one of them.';
const PRICE_EXPECTED =
  'expected USD per million tokens: a number from 0 to 1000000 with at most 6 decimals, such as 0.25';
const NAME_EXPECTED = 'expected a model name of 1 to 256 characters, without control characters';
const ALIAS_EXPECTED =
  'expected a model name of 1 to 256 characters without control characters, or a mapping with name and protocols. Write claude-own, or { name: claude-own, protocols: [messages] }.';

describe('server and limits', () => {
  test.each([
    [
      'server: 8080\n',
      'f.yaml:1:9: server: found a text, expected a mapping. Write its members below it, indented, or as { name: value }.',
    ],
    [
      'server: [a]\n',
      'f.yaml:1:9: server: found a list, expected a mapping. Write its members below it, indented, or as { name: value }.',
    ],
    [
      '- server\n',
      'f.yaml:1:1: found a list, expected a mapping. Write its members below it, indented, or as { name: value }.',
    ],
    [
      'server:\n  port: 65536\n',
      "f.yaml:2:9: server.port: found '65536', expected a whole number from 0 to 65535. Correct the number.",
    ],
    [
      'server:\n  oidc: [ { id: lab, name: L, issuer: https://i, client_id: c, client_secret: none } ]\n',
      'f.yaml:2:9: server.oidc: found sign-in services without public_url, expected public_url: the services redirect to it. Add public_url under server, and register its /app/api/sign-in/oidc/ID/callback at each service.',
    ],
    [
      'server:\n  public_url: https://g\n  oidc:\n    - { id: lab, name: L, issuer: https://i, client_id: c, client_secret: none }\n    - { id: lab, name: M, issuer: https://j, client_id: c, client_secret: none }\n',
      "f.yaml:5:13: server.oidc[1].id: found 'lab' twice, expected a unique id for each service. Give it another id.",
    ],
    [
      'server:\n  public_url: https://g\n  oidc: [ { id: La/b, name: L, issuer: https://i, client_id: c, client_secret: none } ]\n',
      "f.yaml:3:17: server.oidc[0].id: found 'La/b', expected 1 to 32 of a-z, 0-9 and -, beginning with a letter. Choose another id.",
    ],
    [
      'server:\n  smtp: { host: m, from: a@b.c }\n',
      'f.yaml:2:9: server.smtp: found smtp without public_url, expected public_url: links in messages begin with it. Add public_url under server.',
    ],
    [
      'server:\n  public_url: https://g\n  smtp: { host: m, from: a@b.c, user: u }\n',
      'f.yaml:3:9: server.smtp: found a user without password, expected both, or none. Add password.',
    ],
    [
      'server:\n  public_url: https://g\n  smtp: { host: m, from: a@b.c, user: u, password: s3cret-canary, encryption: none }\n',
      'f.yaml:3:79: server.smtp.encryption: found none with a password, expected starttls or tls: the password would be sent in plain text. Choose starttls or tls, or remove user and password.',
    ],
    [
      'server:\n  public_url: https://g\n  smtp: { host: "smtp://m", from: a@b.c }\n',
      "f.yaml:3:17: server.smtp.host: found 'smtp://m', expected an address or host name such as smtp.example.com. Write it without scheme or port.",
    ],
    [
      'server:\n  public_url: https://g\n  smtp: { host: m, from: "Mail <a@b.c>" }\n',
      "f.yaml:3:26: server.smtp.from: found 'Mail <a@b.c>', expected an email address such as tollgate@example.com. Write the address only, without a name.",
    ],
    [
      'server:\n  port: 80.5\n',
      "f.yaml:2:9: server.port: found '80.5', expected a whole number from 0 to 65535. Correct the number.",
    ],
    [
      'server:\n  port: [80]\n',
      'f.yaml:2:9: server.port: found a list, expected a whole number from 0 to 65535. Write a single value.',
    ],
    [
      'server:\n  host: http://x\n',
      "f.yaml:2:9: server.host: found 'http://x', expected an address or host name to listen on, such as 127.0.0.1 or 0.0.0.0. Write it without scheme, port or path.",
    ],
    [
      'server:\n  console: true\n',
      "f.yaml:2:12: server.console: found 'true', expected one of on, off. Choose one of these.",
    ],
    [
      'server:\n  trusted_proxies: 10.0.0.0/8\n',
      'f.yaml:2:20: server.trusted_proxies: found a text, expected a list. Write it as [first, second] or with a line `- …` for each.',
    ],
    [
      'server:\n  trusted_proxies: [10.0.0.0/33]\n',
      "f.yaml:2:21: server.trusted_proxies[0]: found '10.0.0.0/33', expected an address range such as 10.0.0.0/8 or fd00::/8 (no bits beyond the prefix), or one address. Correct the range.",
    ],
    [
      'server:\n  public_url: https://a.example/?x=1\n',
      'f.yaml:2:15: server.public_url: found an address with a query or fragment, expected an address such as https://api.example.com/v1. Remove what begins at ? or #.',
    ],
    [
      'limits: { body_bytes_max: 32MB }\n',
      "f.yaml:1:27: limits.body_bytes_max: found '32MB', expected a size from 1KiB to 16GiB, such as 64KiB or 32MiB. Write a whole number with its unit: B, KiB, MiB or GiB.",
    ],
    [
      'limits: { body_bytes_max: 1023B }\n',
      "f.yaml:1:27: limits.body_bytes_max: found '1023B', expected a size from 1KiB to 16GiB, such as 64KiB or 32MiB. Write a whole number with its unit: B, KiB, MiB or GiB.",
    ],
    [
      'limits: { body_timeout: 60 }\n',
      "f.yaml:1:25: limits.body_timeout: found '60', expected a duration from 1s to 24h, such as 300ms, 60s, 15m or 1h. Write a whole number with its unit: ms, s, m, h or d.",
    ],
    [
      'limits: { open_calls_max: -1 }\n',
      "f.yaml:1:27: limits.open_calls_max: found '-1', expected a whole number from 1 up. Correct the number.",
    ],
    [
      'limits: { json_depth_max: 1001 }\n',
      "f.yaml:1:27: limits.json_depth_max: found '1001', expected a whole number from 1 to 1000. Correct the number.",
    ],
    [
      'limits: { body_byte_max: 1MiB }\n',
      `f.yaml:1:11: limits.body_byte_max: found the unknown member 'body_byte_max', expected one of the ${Object.keys(LIMITS).length} members in docs/configuration.md. Did you mean body_bytes_max?`,
    ],
  ])('%j', (text, problem) => {
    expect(faults(text)).toEqual([problem]);
  });
});

describe('members of later versions', () => {
  test.each([
    [
      'defaults: { unpriced: refuse, image_fetch: off }\n',
      "f.yaml:1:31: defaults.image_fetch: found the unknown member 'image_fetch', expected one of holds, unpriced, broken_answers, store_responses, log_bodies, retention, routing. This version does not know it: remove it.",
    ],
    [
      'defaults: { holds: loose }\n',
      "f.yaml:1:20: defaults.holds: found 'loose', expected one of adaptive, strict. Choose one of these.",
    ],
    [
      'defaults: { log_bodies: some }\n',
      "f.yaml:1:25: defaults.log_bodies: found 'some', expected one of off, errors, all. Choose one of these.",
    ],
    [
      'defaults: { retention: 12h }\n',
      "f.yaml:1:24: defaults.retention: found '12h', expected whole days from 1d to 3650d, such as 30d. Write a whole number followed by d.",
    ],
    [
      'retention: 90d\n',
      "f.yaml:1:1: retention: found the unknown member 'retention', expected one of server, limits, defaults, telemetry, providers, models. This version does not know it: remove it.",
    ],
  ])('%j', (text, problem) => {
    expect(faults(text)).toEqual([problem]);
  });
});

describe('providers', () => {
  test.each([
    [
      'providers: { a: { kind: openai-compatible } }\n',
      'f.yaml:1:17: providers.a: found kind openai-compatible without base_url, expected base_url or preset. Add base_url: https://…/v1, or preset with the name of a known provider.',
    ],
    [
      'providers: { a: { kind: openai } }\n',
      `f.yaml:1:17: providers.a: found no api_key, expected a credential, or none. Add api_key: \${OPENAI_API_KEY}, or api_key: none.`,
    ],
    [
      'providers: { a: { kind: openai-compatible, preset: moonshot-messages, api_key: x } }\n',
      'f.yaml:1:52: providers.a.preset: found preset moonshot-messages with kind openai-compatible, expected kind anthropic-compatible. Write kind: anthropic-compatible, or another preset.',
    ],
    [
      'providers: { a: { kind: openai-compatible, preset: snowflake, api_key: x } }\n',
      'f.yaml:1:17: providers.a: found preset snowflake without base_url, expected the address of your account, such as https://{account}.snowflakecomputing.com/api/v2/cortex/v1. Add base_url.',
    ],
    [
      'providers: { a: { kind: openai, preset: groq, api_key: x } }\n',
      'f.yaml:1:33: providers.a.preset: found preset with kind openai, expected kind openai with base_url, timeouts, api_key, api_keys, credentials, files only. Remove it, or write another kind.',
    ],
    [
      'providers: { a: { kind: demo, api_key: x } }\n',
      'f.yaml:1:31: providers.a.api_key: found api_key with kind demo, expected no other member. Remove it, or write another kind.',
    ],
    [
      'providers: { a: { kind: google } }\n',
      `f.yaml:1:25: providers.a.kind: found 'google', expected one of ${KIND_NAMES}. Choose one of these.`,
    ],
    [
      'providers: { a: { kind: gemini } }\n',
      `f.yaml:1:17: providers.a: found no api_key, expected a credential, or none. Add api_key: \${GEMINI_API_KEY}, or api_key: none.`,
    ],
    [
      'providers: { a: { api_key: x } }\n',
      `f.yaml:1:17: providers.a.kind: found nothing, expected one of ${KIND_NAMES}. Add the member kind.`,
    ],
    [
      'providers: { a: { kind: demo, timeout: 3s } }\n',
      `f.yaml:1:31: providers.a.timeout: found the unknown member 'timeout', expected one of the ${Object.keys(providerSchema.shape).length} members in docs/configuration.md. Did you mean timeouts?`,
    ],
    [
      'providers: { "a/b": { kind: demo } }\n',
      "f.yaml:1:14: providers['a/b']: found 'a/b', expected a provider name of 1 to 64 letters, digits, `.`, `_` or `-`. Choose another name.",
    ],
    [
      `providers: { a: { kind: openai, api_key: \${K}, timeouts: { conect: 1s } } }\n`,
      "f.yaml:1:60: providers.a.timeouts.conect: found the unknown member 'conect', expected one of connect, first_byte, first_byte_plain, idle, total. Did you mean connect?",
    ],
    [
      `providers: { a: { kind: openai, api_key: "\${K} " } }\n`,
      'f.yaml:1:42: providers.a.api_key: found a hidden value, expected a credential of visible ASCII characters, or none. Look for a line break, space or quote that was copied with it.',
    ],
    [
      `providers: { a: { kind: "\${K}" } }\n`,
      `f.yaml:1:25: providers.a.kind: found the value of '\${K}', expected one of ${KIND_NAMES}. Choose one of these.`,
    ],
    [
      'providers: { a: canary-1 }\n',
      'f.yaml:1:17: providers.a: found a text, expected a mapping. Write its members below it, indented, or as { name: value }.',
    ],
    [
      'providers: { a: { kind: openai, api_key: x, base_url: "http://u:canary-2@h" } }\n',
      'f.yaml:1:55: providers.a.base_url: found an address with @ in it, expected an address such as https://api.example.com/v1. Put the credential into api_key.',
    ],
  ])('%j', (text, problem) => {
    const found = faults(text, { K: 'canary-3' });
    expect(found).toEqual([problem]);
    expect(found.join()).not.toContain('canary');
  });

  test('an unset variable is reported once', () => {
    expect(faults(`providers:\n  a: { kind: openai, api_key: \${NOPE} }\n`)).toEqual([
      `f.yaml:2:31: providers.a.api_key: found \${NOPE}, but there is no environment variable NOPE, expected a variable that is set. Set NOPE, or give a default: \${NOPE:-default}.`,
    ]);
  });
});

describe('models', () => {
  test.each([
    ['m: { }', 'f.yaml:2:14: models.m.targets: found nothing, expected a list. Add the member targets.'],
    [
      'm: { targets: [] }',
      'f.yaml:2:25: models.m.targets: found an empty list, expected at least one item. Add one, or remove the member.',
    ],
    [
      'm: { targets: [{ provider: lap }] }',
      "f.yaml:2:38: models.m.targets[0].provider: found 'lap', expected the name of a provider: lab, claude. Did you mean lab?",
    ],
    [
      'm: { targets: [{ provider: constructor }] }',
      "f.yaml:2:38: models.m.targets[0].provider: found 'constructor', expected the name of a provider: lab, claude. Add it under providers, or name one of these.",
    ],
    [
      'm: { protocols: [chats], targets: [{ provider: lab }] }',
      `f.yaml:2:28: models.m.protocols[0]: found 'chats', expected one of ${CLIENT_PROTOCOL_NAMES.join(', ')}. Choose one of these.`,
    ],
    [
      'm: { protocols: [], targets: [{ provider: lab }] }',
      'f.yaml:2:27: models.m.protocols: found an empty list, expected at least one item. Add one, or remove the member.',
    ],
    [
      'm: { protocols: [chat, chat], alias: [x], targets: [{ provider: lab }] }',
      'f.yaml:2:34: models.m.protocols[1]: found chat twice, expected each once. Remove one of them.',
    ],
    [
      'm: { alias: [m], targets: [{ provider: lab }] }',
      "f.yaml:2:24: models.m.alias[0]: found 'm', which is already the name of the model 'm', expected a name that no other model or alias has. Choose another name, or remove one of them.",
    ],
    [
      'm: { alias: [x], targets: [{ provider: lab }] }, n: { alias: [x], targets: [{ provider: lab }] }',
      "f.yaml:2:73: models.n.alias[0]: found 'x', which is already the name of an alias of 'm', expected a name that no other model or alias has. Choose another name, or remove one of them.",
    ],
    [
      'm: { alias: [x, { name: x, protocols: [chat] }], targets: [{ provider: lab }] }',
      "f.yaml:2:35: models.m.alias[1].name: found 'x', which is already the name of an alias of 'm', expected a name that no other model or alias has. Choose another name, or remove one of them.",
    ],
    [
      'm: { protocols: [messages], alias: [{ name: x, protocols: [messages, chat] }], targets: [{ provider: lab }] }',
      'f.yaml:2:80: models.m.alias[0].protocols[1]: found chat, expected messages, as the protocols of its model say. Remove chat, or add it to the protocols of the model.',
    ],
    [
      'm: { alias: [{ name: x, protocols: [chat, chat] }], targets: [{ provider: lab }] }',
      'f.yaml:2:53: models.m.alias[0].protocols[1]: found chat twice, expected each once. Remove one of them.',
    ],
    [
      'm: { alias: [{ name: x, protocols: [] }], targets: [{ provider: lab }] }',
      'f.yaml:2:46: models.m.alias[0].protocols: found an empty list, expected at least one item. Add one, or remove the member.',
    ],
    [
      'm: { alias: [{ name: x, protocols: [both] }], targets: [{ provider: lab }] }',
      `f.yaml:2:47: models.m.alias[0].protocols[0]: found 'both', expected one of ${CLIENT_PROTOCOL_NAMES.join(', ')}. Choose one of these.`,
    ],
    [
      'm: { alias: [{ protocols: [chat] }], targets: [{ provider: lab }] }',
      `f.yaml:2:24: models.m.alias[0].name: found nothing, ${NAME_EXPECTED}. Add the member name.`,
    ],
    [
      'm: { alias: [{ name: x, protocol: [chat] }], targets: [{ provider: lab }] }',
      "f.yaml:2:35: models.m.alias[0].protocol: found the unknown member 'protocol', expected one of name, protocols. Did you mean protocols?",
    ],
    ['m: { alias: [""], targets: [{ provider: lab }] }', `f.yaml:2:24: models.m.alias[0]: found '', ${ALIAS_EXPECTED}`],
    [
      'm: { alias: [[x]], targets: [{ provider: lab }] }',
      `f.yaml:2:24: models.m.alias[0]: found a list, ${ALIAS_EXPECTED}`,
    ],
    [
      `${'m'.repeat(257)}: { targets: [{ provider: lab }] }`,
      `f.yaml:2:11: models.${'m'.repeat(257)}: found '${'m'.repeat(60)}…', expected a model name of 1 to 256 characters, without control characters or variables. Choose another name.`,
    ],
    [
      '"a\\tb": { targets: [{ provider: lab }] }',
      "f.yaml:2:11: models['a\\u{9}b']: found 'a\\u{9}b', expected a model name of 1 to 256 characters, without control characters or variables. Choose another name.",
    ],
    [
      'm: { targets: [{ provider: lab }], price: 1 }',
      `f.yaml:2:53: models.m.price: found '1', ${PRICE_FORMS_EXPECTED}`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1 } }',
      `f.yaml:2:53: models.m.price.output: found nothing, ${PRICE_EXPECTED}. Add the member output.`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 0.0000001, output: 1 } }',
      `f.yaml:2:62: models.m.price.input: found '0.0000001', ${PRICE_EXPECTED}. Correct the number.`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1e3, output: 1 } }',
      `f.yaml:2:62: models.m.price.input: found '1e3', ${PRICE_EXPECTED}. Correct the number.`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, cash_read: 1 } }',
      "f.yaml:2:76: models.m.price.cash_read: found the unknown member 'cash_read', expected one of the 18 members in docs/configuration.md. Did you mean cache_read?",
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, cache_write: 1, cache_write_5m: 1 } }',
      'f.yaml:2:89: models.m.price.cache_write: found cache_write together with cache_write_5m, expected one of the two: they mean the same. Remove one.',
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, per_1000_requests: { Search: 1 } } }',
      "f.yaml:2:97: models.m.price.per_1000_requests.Search: found 'Search', expected a kind of tool as the provider counts it: 1 to 40 lower-case letters, digits and _, such as web_search. Choose another name.",
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 2000000 } }',
      `f.yaml:2:73: models.m.price.output: found '2000000', ${PRICE_EXPECTED}. Correct the number.`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, per_1000_requests: { web_search: 2000 } } }',
      "f.yaml:2:109: models.m.price.per_1000_requests.web_search: found '2000', expected USD per 1,000 requests: a number from 0 to 1000 with at most 6 decimals, such as 0.25. Correct the number.",
    ],
    [
      'm: { targets: [{ provider: lab }], price: [] }',
      'f.yaml:2:53: models.m.price: found an empty list, expected at least one item. Add one, or remove the member.',
    ],
    [
      'm: { targets: [{ provider: lab }], price: [free] }',
      'f.yaml:2:54: models.m.price[0]: found a text, expected a mapping. Write its members below it, indented, or as { name: value }.',
    ],
    [
      'm: { targets: [{ provider: lab }], price: [{ input: 1, output: x }] }',
      `f.yaml:2:74: models.m.price[0].output: found 'x', ${PRICE_EXPECTED}. Correct the number.`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: [{ input: 1, output: 1, form: 2026-12-01 }] }',
      "f.yaml:2:77: models.m.price[0].form: found the unknown member 'form', expected one of the 18 members in docs/configuration.md. Did you mean from?",
    ],
    [
      'm: { targets: [{ provider: lab }], price: { from: 2026-02-30, input: 1, output: 1 } }',
      "f.yaml:2:61: models.m.price.from: found '2026-02-30', expected a day such as 2026-12-01 (its first moment in UTC), or a moment such as 2026-12-01T08:00:00Z. Correct the date.",
    ],
    [
      'm: { targets: [{ provider: lab }], price: [{ input: 1, output: 1 }, { input: 2, output: 2 }] }',
      `f.yaml:2:79: models.m.price[1]: found a second price without from, ${BEGINNING_EXPECTED}`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: [{ from: 2026-12-01, input: 1, output: 1 }, { from: "2026-12-01T00:00Z", input: 2, output: 2 }] }',
      `f.yaml:2:105: models.m.price[1].from: found the same start as another price, ${BEGINNING_EXPECTED}`,
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, tiers: [{ above: 9, input: 1, output: 1 }, { above: 9, input: 1, output: 1 }] } }',
      'f.yaml:2:128: models.m.price.tiers[1].above: found 9, expected more than 9, the limit of the previous tier. Write the tiers in ascending order, each once.',
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, tiers: [{ above: 0, input: 1, output: 1 }] } }',
      "f.yaml:2:93: models.m.price.tiers[0].above: found '0', expected a whole number from 1 up. Correct the number.",
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, tiers: [{ above: 9, input: 1, output: 1, cache_write: 1, cache_write_5m: 1 }] } }',
      'f.yaml:2:130: models.m.price.tiers[0].cache_write: found cache_write together with cache_write_5m, expected one of the two: they mean the same. Remove one.',
    ],
    [
      'm: { targets: [{ provider: lab }], price: { input: 1, output: 1, tiers: { above: 9 } } }',
      'f.yaml:2:83: models.m.price.tiers: found a mapping, expected a list. Write it as [first, second] or with a line `- …` for each.',
    ],
  ])('%s', (model, problem) => {
    expect(faults(`${LAB}models: { ${model} }\n`)).toEqual([problem]);
  });

  test('a target of an invalid provider adds no second problem', () => {
    const found = faults('providers: { a: { kind: openai } }\nmodels: { m: { targets: [{ provider: a }] } }\n');
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith('f.yaml:1:17: providers.a: found no api_key');
  });
});

test.each(['providers', 'models'])('an empty mapping of %s is not taken for its default', (name) => {
  expect(faults(`${name}: {}\n`)).toEqual([
    `f.yaml:1:${name.length + 3}: ${name}: found an empty mapping, expected at least one name. Add one, or remove the member to use its default.`,
  ]);
});

test('any mutation of a file reports problems and no credential', () => {
  const good = [
    'server: { port: 1, trusted_proxies: [10.0.0.0/8] }',
    'limits: { drain: 1s }',
    'providers:',
    '  a: { kind: openai, api_key: canary-literal }',
    `  b: { kind: anthropic, api_key: \${K}, timeouts: &t { idle: 5s } }`,
    `  c: { kind: openai, api_keys: [{ name: k, key: \${K}, models: [o] }, { name: l, key: x\${K} }] }`,
    'models:',
    '  m: { alias: [n], targets: [{ provider: a, timeouts: *t }, { provider: c, model: o, tags: [eu] }], price: { input: 1, output: 2 } }',
  ].join('\n');
  expect(faults(good, { K: 'canary-variable' })).toEqual([]);
  const edit = fc.record({
    at: fc.nat(good.length),
    length: fc.nat(12),
    text: fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.constantFrom(`\${`, '}', '*t', '&t ', '\n', '\t', ': ', '- ', '<<', '!!x '),
    ),
  });
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      const text = edits.reduce((old, { at, length, text }) => old.slice(0, at) + text + old.slice(at + length), good);
      const messages = faults(text, { K: 'canary-variable' }).join('\n');
      expect(messages).not.toContain('canary-variable');
      if (!/canary/.test(text.replace(/api_key: canary-literal/, ''))) expect(messages).not.toContain('canary-l');
    }),
    { numRuns: 150 },
  );
});

test('all problems are reported at once, in file order', () => {
  const found = faults('limits: { drain: x }\nserver: { port: y, hots: z }\nmodel: {}\n');
  expect(found.map((problem) => problem.split(': found')[0])).toEqual([
    'f.yaml:1:18: limits.drain',
    'f.yaml:2:17: server.port',
    'f.yaml:2:20: server.hots',
    'f.yaml:3:1: model',
  ]);
});

describe('the file itself', () => {
  test('must exist if it was named', () => {
    const { problems } = loadConfig({ file: 'nope.yaml', environment: {}, cwd });
    expect(problems.map(renderConfigProblem)).toEqual([
      `nope.yaml: found no such file, expected a readable file. Look for it at ${join(cwd, 'nope.yaml')}.`,
    ]);
  });

  test('must not be a folder', () => {
    const { problems } = loadConfig({ file: '.', environment: {}, cwd });
    expect(problems.map(renderConfigProblem)).toEqual([
      `.: found a file that cannot be read (EISDIR), expected a readable file. Look for it at ${cwd}.`,
    ]);
  });

  test('must be UTF-8, and the invalid line is named', () => {
    const latin = Buffer.concat([Buffer.from('server:\n  host: '), Buffer.from([0xe4, 0x0a])]);
    const expected = 'found bytes that are not UTF-8, expected a text file in UTF-8. Save the file as UTF-8.';
    expect(faults(latin)).toEqual([`f.yaml:2:1: ${expected}`]);
    expect(faults(Buffer.from('server: {}\n', 'utf16le').fill(0xff, 0, 1))).toEqual([`f.yaml:1:1: ${expected}`]);
  });

  test('must not contain NUL or private-use characters', () => {
    const expected =
      'found a NUL or private-use character, expected ordinary text. Remove the character; editors may not show it.';
    expect(faults('a: 1\nb: \0\n')).toEqual([`f.yaml:2:1: ${expected}`]);
    expect(faults('a: \ue024\n')).toEqual([`f.yaml:1:1: ${expected}`]);
  });

  test('must not exceed 1 MiB', () => {
    const comment = (bytes: number) => `#${'x'.repeat(bytes - 2)}\n`;
    expect(faults(comment(1024 * 1024))).toEqual([]);
    expect(faults(comment(1024 * 1024 + 1))).toEqual([
      'f.yaml: found more than 1 MiB, expected a file of at most 1 MiB. Make it smaller.',
    ]);
  });
});

describe('the environment', () => {
  test.each([
    [
      { DATABASE_URL: 'postgres://canary' },
      'environment: DATABASE_URL: found a value, expected none: this version keeps everything in its data folder, on one machine. Unset DATABASE_URL.',
    ],
    [
      { REDIS_URL: 'redis://canary' },
      'environment: REDIS_URL: found a value, expected none: this version keeps everything in its data folder, on one machine. Unset REDIS_URL.',
    ],
    [
      { PORT: '99999' },
      "environment: PORT: found '99999', expected a port from 0 to 65535. Correct PORT, or unset it.",
    ],
    [
      { HTTPS_PROXY: 'socks5://user:canary@proxy.example' },
      'environment: HTTPS_PROXY: found a value that is hidden here, expected an address such as http://proxy.example:3128 (http only, perhaps with user:password@). Correct HTTPS_PROXY, or unset it.',
    ],
    [
      { https_proxy: 'http://proxy.example', no_proxy: 'a.example,<local>' },
      "environment: no_proxy: found '<local>', expected hosts such as example.com, .example.com, 10.0.0.0/8, example.com:8443 or *, separated by commas. Correct no_proxy, or set server.egress_proxy in the file instead.",
    ],
    [{ HOST: 'a b' }, "environment: HOST: found 'a b', expected an address or host name. Correct HOST, or unset it."],
  ])('%j', (environment, problem) => {
    expect(faults('{}\n', environment)).toEqual([problem]);
  });
});
