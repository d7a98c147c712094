/**
 * Tests which providers an environment configures, how they are reported, and that the report contains no credential.
 */
import { describe, expect, test } from 'bun:test';
import { addressOf, PRESETS } from '../providers/presets/presets.ts';
import { discoverProviders } from './discover-providers.ts';
import { renderConfigProblem } from './file/config-problem.ts';
import { chooseDefaultTimeouts, resolveLimits } from './resolve-settings.ts';

const TIMEOUTS = chooseDefaultTimeouts(resolveLimits(undefined));
const discover = (environment: { readonly [name: string]: string }) => discoverProviders(environment, TIMEOUTS);

describe('discoverProviders', () => {
  test('finds nothing in an empty environment, nor in empty variables', () => {
    const { providers, notes, problems } = discover({ OPENAI_API_KEY: '', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' });
    expect(providers.size).toBe(0);
    expect(notes).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('binds each credential to the origin of its own host', () => {
    const { providers } = discover({
      OPENAI_API_KEY: 'canary-a',
      ANTHROPIC_API_KEY: 'canary-b',
      GROQ_API_KEY: 'canary-c',
    });
    const bound = [...providers.values()].map(({ name, credentials }) => [
      name,
      credentials?.origin,
      credentials?.pool[0].secrets.api_key?.reveal(),
    ]);
    expect(bound).toEqual([
      ['openai', 'https://api.openai.com', 'canary-a'],
      ['anthropic', 'https://api.anthropic.com', 'canary-b'],
      ['groq', 'https://api.groq.com', 'canary-c'],
    ]);
  });

  test('reports what it found without the credential', () => {
    const { notes } = discover({ GEMINI_API_KEY: 'canary-a' });
    expect(notes).toEqual([
      'Found GEMINI_API_KEY: Google Gemini answers as provider gemini at https://generativelanguage.googleapis.com/v1beta.',
    ]);
  });

  test('finds every preset by each of its variables', () => {
    for (const preset of PRESETS.filter((one) => addressOf(one) !== null)) {
      for (const variable of preset.credentialVariables) {
        const first = PRESETS.find(({ credentialVariables }) => credentialVariables.includes(variable));
        expect([...discover({ [variable]: 'x' }).providers.keys()]).toEqual([first?.name ?? preset.name]);
      }
    }
  });

  test("reads the address from the vendors' own variables, and binds the credential to it", () => {
    const { providers } = discover({
      OPENAI_API_KEY: 'x',
      OPENAI_BASE_URL: 'http://127.0.0.1:9000/v1/',
      ANTHROPIC_API_KEY: 'y',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9001',
    });
    expect(providers.get('openai')).toMatchObject({
      baseUrl: 'http://127.0.0.1:9000/v1',
      credentials: { origin: 'http://127.0.0.1:9000' },
    });
    expect(providers.get('anthropic')).toMatchObject({
      baseUrl: 'http://127.0.0.1:9001/v1',
      credentials: { origin: 'http://127.0.0.1:9001' },
    });
  });

  test('a credential with a line break is reported but not shown', () => {
    const { problems } = discover({ OPENAI_API_KEY: 'canary\n' });
    expect(problems.map(renderConfigProblem)).toEqual([
      'environment: OPENAI_API_KEY: found a hidden value, expected a credential of visible ASCII characters. Look for a line break, space or quote that was copied with it, or unset OPENAI_API_KEY.',
    ]);
  });

  test('a bad address names its variable', () => {
    const { problems } = discover({ OPENAI_API_KEY: 'x', OPENAI_BASE_URL: 'https://u:canary@h' });
    expect(problems.map(renderConfigProblem)).toEqual([
      'environment: OPENAI_BASE_URL: found an address with @ in it, expected an address such as https://api.example.com/v1. Put the credential into api_key.',
    ]);
  });
});
