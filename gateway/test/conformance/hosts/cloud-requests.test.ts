/**
 * Tests requests to clouds that differ from the vendor of their format: addresses, credentials, and members that they
 * refuse. Source: provider reference, B.4, C.2, F and G (Databricks).
 */
import { describe, expect, test } from 'bun:test';
import { FakeSurroundings } from '../../../src/providers/credentials/testing/fake-surroundings.ts';
import { createAzure } from '../../../src/providers/kinds/azure.ts';
import { findSignatureFault } from '../../../src/providers/kinds/bedrock/testing/verify-signature.ts';
import { createBedrock } from '../../../src/providers/kinds/bedrock.ts';
import { createAnthropicAws, createAnthropicGoogle } from '../../../src/providers/kinds/claude-platform.ts';
import { createDatabricks } from '../../../src/providers/kinds/databricks.ts';
import { createVertex } from '../../../src/providers/kinds/vertex.ts';
import { openHost } from './send-to-host.ts';

const HELLO = { model: 'claude-opus-4-8', max_tokens: 9, messages: [{ role: 'user', content: 'Ahoy.' }] };
const MESSAGES = { model: 'claude-opus-4-8', protocol: 'messages', body: HELLO } as const;
const VERSION = ['anthropic-version', '2023-06-01'] as const;
const beta = (...names: readonly string[]) => ['anthropic-beta', names.join(',')] as const;
const REFUSED_401 = { status: 401, body: { error: { message: 'expired' } } };
const unknownBeta = (name: string) => ({
  status: 400,
  body: {
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: `Unexpected value(s) \`${name}\` for the \`anthropic-beta\` header.`,
    },
  },
});

/** Of Google's user credentials. */
const USER = JSON.stringify({ type: 'authorized_user', client_id: 'i', client_secret: 's', refresh_token: 'r' });
const googleMachine = () => {
  let issued = 0;
  return new FakeSurroundings({
    servers: { 'https://oauth2.googleapis.com/token': () => `{"access_token":"ya-${++issued}","expires_in":3599}` },
  });
};

describe('Claude Platform on AWS', () => {
  const settings = { region: 'us-west-2', workspace_id: 'wrkspc_1' };
  const URL = 'https://aws-external-anthropic.us-west-2.api.aws/v1/messages';

  test('gets Anthropic’s own request with its workspace and its key', async () => {
    const host = openHost({ kind: createAnthropicAws(new FakeSurroundings()), settings, secrets: { api_key: 'k' } });
    const { sent, dropped } = await host.ask({ ...MESSAGES, headers: [VERSION, beta('files-api-2025-04-14')] });
    expect(sent.map(({ url }) => url)).toEqual([URL]);
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toMatchObject({
      'anthropic-workspace-id': 'wrkspc_1',
      'x-api-key': 'k',
      'anthropic-beta': 'files-api-2025-04-14',
    });
    expect(sent[0]?.headers.has('authorization')).toBe(false);
    expect([sent[0]?.text, dropped]).toEqual([JSON.stringify(HELLO), []]);
  });

  test('is signed for its own service, never with Bedrock’s bearer key, and again after a wrong time', async () => {
    const machine = new FakeSurroundings({
      environment: { AWS_BEARER_TOKEN_BEDROCK: 'canary', AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 's' },
    });
    const host = openHost({ kind: createAnthropicAws(machine), settings, source: 'chain' });
    const serverMs = machine.now + 900_000;
    const late = {
      status: 403,
      headers: [
        ['x-amzn-errortype', 'InvalidSignatureException:'],
        ['date', new Date(serverMs).toUTCString()],
      ] as const,
      body: { message: 'Signature expired' },
    };
    const { sent, status } = await host.ask({ ...MESSAGES, headers: [VERSION], answers: [late] });
    const faults = sent.map(({ headers, text }, index) => {
      const arrived = { method: 'POST', path: '/v1/messages', headers, body: text };
      const nowMs = index === 0 ? machine.now : serverMs;
      return findSignatureFault(arrived, {
        service: 'aws-external-anthropic',
        region: 'us-west-2',
        secrets: { AKIA1: 's' },
        nowMs,
      });
    });
    expect([status, faults]).toEqual([200, [null, null]]);
    expect(sent[0]?.headers.get('authorization')).toContain('anthropic-workspace-id');
  });
});

test('Claude Platform on Google Cloud has the workspace in its path, and a new token after a 401', async () => {
  const machine = googleMachine();
  const settings = { project: 'p-1', workspace_id: 'wrkspc_1' };
  const host = openHost({ kind: createAnthropicGoogle(machine), settings, secrets: { credentials_json: USER } });
  await host.ask({ ...MESSAGES, headers: [VERSION] });
  machine.now += 61_000;
  const { sent, status } = await host.ask({ ...MESSAGES, headers: [VERSION], answers: [REFUSED_401] });
  const url = 'https://claude.googleapis.com/v1/projects/p-1/locations/global/workspaces/wrkspc_1/invoke/v1/messages';
  expect([status, sent.map((one) => [one.url, one.headers.get('authorization'), one.text])]).toEqual([
    200,
    ['Bearer ya-1', 'Bearer ya-2'].map((token) => [url, token, JSON.stringify(HELLO)]),
  ]);
});

test('the older path of Foundry has the model in the body and the version in the query', async () => {
  const kind = createAzure(new FakeSurroundings());
  const settings = { resource: 'acme', door: 'models' };
  const body = { model: 'Mistral-Large-3', messages: [] };
  const host = openHost({ kind, settings, secrets: { api_key: 'k' } });
  const { sent } = await host.ask({ model: 'Mistral-Large-3', protocol: 'chat', body });
  const url = 'https://acme.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview';
  expect(sent.map((one) => [one.url, one.headers.get('api-key'), one.text])).toEqual([
    [url, 'k', JSON.stringify(body)],
  ]);
});

describe('a service principal of Databricks', () => {
  const machine = () => {
    let issued = 0;
    return new FakeSurroundings({
      servers: {
        'https://dbc-1.cloud.databricks.com/oidc/v1/token': ({ headers, body }) => {
          const isAsked =
            headers.get('authorization') === `Basic ${btoa('id:canary')}` &&
            body === 'grant_type=client_credentials&scope=all-apis';
          return isAsked ? `{"access_token":"dt-${++issued}","expires_in":3600}` : new Response('{}', { status: 401 });
        },
      },
    });
  };
  const secrets = { client_id: 'id', client_secret: 'canary' };
  const at = (baseUrl: string, surroundings: FakeSurroundings) =>
    openHost({ kind: createDatabricks(surroundings), settings: {}, secrets, baseUrl });
  const body = { model: 'tide', messages: [] };

  test('has one token for both formats, and another after a 401', async () => {
    const surroundings = machine();
    const host = at('https://dbc-1.cloud.databricks.com', surroundings);
    const chat = await host.ask({ model: 'tide', protocol: 'chat', body });
    const claude = await host.ask({ ...MESSAGES, headers: [VERSION] });
    expect([...chat.sent, ...claude.sent].map(({ url, headers }) => [url, headers.get('authorization')])).toEqual([
      ['https://dbc-1.cloud.databricks.com/serving-endpoints/chat/completions', 'Bearer dt-1'],
      ['https://dbc-1.cloud.databricks.com/serving-endpoints/anthropic/v1/messages', 'Bearer dt-1'],
    ]);
    expect([surroundings.asked.length, chat.hidden]).toEqual([1, ['dt-1', 'dt-1']]);
    surroundings.now += 61_000;
    const again = await host.ask({ model: 'tide', protocol: 'chat', body, answers: [REFUSED_401] });
    expect([again.status, again.sent.map(({ headers }) => headers.get('authorization'))]).toEqual([
      200,
      ['Bearer dt-1', 'Bearer dt-2'],
    ]);
  });

  test.each(['https://evil.example', 'http://dbc-1.cloud.databricks.com', 'https://cloud.databricks.com.evil.example'])(
    'sends its secret to no other address: %s',
    async (address) => {
      const surroundings = machine();
      const { failure, sent } = await at(address, surroundings).ask({ model: 'tide', protocol: 'chat', body });
      expect([failure.includes('no workspace of Databricks'), sent, surroundings.asked]).toEqual([true, [], []]);
      expect(failure).not.toContain('canary');
    },
  );
});

describe('InvokeModel', () => {
  const PROFILE = 'us.anthropic.claude-sonnet-4-6-v1:0';
  const settings = { region: 'us-east-1' };
  const host = () => openHost({ kind: createBedrock(new FakeSurroundings()), settings, secrets: { api_key: 'k' } });
  const asking = (tools: readonly object[], headers = [VERSION] as readonly (readonly [string, string])[]) =>
    ({ model: PROFILE, protocol: 'messages', headers, body: { ...HELLO, tools } }) as const;
  const EAGER = { name: 'f', input_schema: { type: 'object', n: 1 }, eager_input_streaming: true };
  const INVALID = { status: 400, body: { message: 'invalid beta flag' } };

  test('streams the input of tools by a beta instead of eager_input_streaming', async () => {
    const { sent, dropped } = await host().ask(asking([EAGER, { ...EAGER, eager_input_streaming: false }]));
    const { tools, anthropic_beta } = JSON.parse(sent[0]?.text ?? '');
    const { eager_input_streaming: _, ...plain } = EAGER;
    expect([tools, anthropic_beta, dropped]).toEqual([[plain, plain], ['fine-grained-tool-streaming-2025-05-14'], []]);
  });

  test('names the member where its model refuses that beta, and gives a strict key the refusal', async () => {
    const one = await host().ask({ ...asking([EAGER]), answers: [INVALID] });
    expect([one.status, one.sent.length, one.dropped]).toEqual([200, 2, ['tools.0.eager_input_streaming']]);
    expect(JSON.parse(one.sent[1]?.text ?? '')).not.toHaveProperty('anthropic_beta');
    const strict = await host().ask({ ...asking([EAGER]), answers: [INVALID], strict: true });
    expect([strict.status, strict.sent.length, strict.dropped]).toEqual([400, 1, []]);
  });

  test('gets the next versions of the first computer-use tools, which are named', async () => {
    const tools = ['computer_20241022', 'bash_20241022', 'text_editor_20241022', 'bash_20250124'];
    const { sent, dropped } = await host().ask(
      asking(
        tools.map((type) => ({ type, name: type })),
        [VERSION, beta('computer-use-2024-10-22')],
      ),
    );
    const body = JSON.parse(sent[0]?.text ?? '');
    expect(body.tools).toEqual([
      { type: 'computer_20250124', name: 'computer_20241022' },
      { type: 'bash_20250124', name: 'bash_20241022' },
      { type: 'text_editor_20250124', name: 'text_editor_20241022' },
      { type: 'bash_20250124', name: 'bash_20250124' },
    ]);
    expect(body.anthropic_beta).toEqual(['computer-use-2024-10-22', 'computer-use-2025-01-24']);
    expect(dropped).toEqual(['tools.0.type', 'tools.1.type', 'tools.2.type']);
    const strict = host().ask({ ...asking([{ type: 'bash_20241022', name: 'bash' }]), strict: true });
    expect(strict).rejects.toMatchObject({ kind: 'invalid_request', details: { param: 'tools.0.type' } });
  });

  test('Mantle, which is Anthropic’s own format, gets them unchanged', async () => {
    const asked = { ...asking([EAGER]), model: 'anthropic.claude-opus-4-8' };
    const { sent, dropped } = await host().ask(asked);
    expect([sent[0]?.text, dropped]).toEqual([JSON.stringify(asked.body), []]);
  });

  test('a strict key is refused where only the second service drops a beta', async () => {
    const asked = { ...asking([], [VERSION, beta('tide-2026-01-01')]), model: 'anthropic.claude-opus-4-8' };
    const { status, body, sent } = await host().ask({ ...asked, answers: [{ status: 404, body: {} }], strict: true });
    expect([status, sent.length, JSON.parse(body).error.type]).toEqual([400, 1, 'invalid_request_error']);
    expect(body).toContain('anthropic-beta.tide-2026-01-01');
  });
});

describe('a beta that a host does not take', () => {
  const open = () =>
    openHost({
      kind: createVertex(googleMachine()),
      settings: { project: 'p-1' },
      secrets: { credentials_json: USER },
    });
  const asked = { ...MESSAGES, headers: [VERSION, beta('tide-2026-01-01')] };

  test('is dropped and named, but not of a strict key: it gets the refusal, then ours', async () => {
    const host = open();
    const first = await host.ask({ ...asked, answers: [unknownBeta('tide-2026-01-01')], strict: true });
    expect([first.status, first.sent.length, first.body.includes('tide-2026-01-01')]).toEqual([400, 1, true]);
    const other = await host.ask({ ...asked, answers: [unknownBeta('tide-2026-01-01')] });
    expect([other.status, other.dropped]).toEqual([200, ['anthropic-beta.tide-2026-01-01']]);
    expect(host.ask({ ...asked, strict: true })).rejects.toMatchObject({
      kind: 'invalid_request',
      details: { param: 'anthropic-beta.tide-2026-01-01' },
    });
  });
});
