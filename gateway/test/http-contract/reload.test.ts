/**
 * Tests configuration changes of a running server: a changed file, SIGHUP, an invalid file, and the output of `check`
 * for both. Contract 2.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { LIMITS } from '../../src/config/limits.ts';
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, post } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';

const TARGETS = [{ provider: 'lab', model: 'ok' }];
const RELOAD_MS_MAX = 5_000;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair(contractConfig);
  scriptContractModels(pair.fake);
});
afterAll(() => pair.stop());

const ask = (model: string) => post(pair.gateway, 'chat', goodBody('chat', { model }));
const untilStatus = (model: string, status: number) =>
  eventually(
    `${model} to be ${status}`,
    async () => ((await ask(model)).status === status ? true : null),
    RELOAD_MS_MAX,
  );

function write(config: object | string): void {
  writeFileSync(pair.gateway.configFile, typeof config === 'string' ? config : JSON.stringify(config));
}

/** Waits until the server has logged a text once more than before. */
async function untilLogged(text: string, act: () => void): Promise<void> {
  const count = () => `${pair.gateway.stdout()}${pair.gateway.stderr()}`.split(text).length;
  const before = count();
  act();
  await eventually(`the log to say ${JSON.stringify(text)}`, () => (count() > before ? true : null), RELOAD_MS_MAX);
}

const RELOADED = 'the configuration was reloaded';
const KEPT = 'the running configuration stays';

describe('a good file', () => {
  const turn = { role: 'user', content: 'x' };
  const threeTurns = () => post(pair.gateway, 'chat', goodBody('chat', { messages: [turn, turn, turn] }));

  test('is applied when it changes: models and limits take effect', async () => {
    expect((await ask('newcomer')).status).toBe(403);
    const newcomer = { targets: TARGETS, price: 'free' };
    write(contractConfig(pair.fake.url, { models: { newcomer }, limits: { messages_max: 2 } }));
    await untilStatus('newcomer', 200);
    await expectRefusal(await threeTurns(), 'chat', invalid('chat', 'messages: found 3 elements', 'messages'));
  });

  test('models go, limits are lifted, and nothing is replaced under a call that runs', async () => {
    pair.fake.script('broken', { answer: 'long:20', holdAfterEvent: 3 });
    const stream = await post(pair.gateway, 'chat', goodBody('chat', { model: 'broken', stream: true }));
    const models = { broken: { targets: TARGETS, price: 'free' }, second: { targets: TARGETS } };
    write(contractConfig(pair.fake.url, { models }));
    await untilStatus('second', 200);
    expect((await ask('newcomer')).status).toBe(403);
    expect((await threeTurns()).status).toBe(200);
    pair.fake.release();
    expect(await stream.text()).toEndWith('data: [DONE]\n\n');
    expect(pair.fake.served('broken').map(({ finished }) => finished)).toEqual(['complete']);
  });

  test('its notes are logged, as at the start', async () => {
    const pool = {
      kind: 'openai-compatible',
      base_url: `${pair.fake.url}/v1`,
      api_keys: [
        { name: 'one', key: 'key-one-7f31' },
        { name: 'two', key: 'key-two-9a02' },
      ],
    };
    const config = contractConfig(pair.fake.url, { models: { second: { targets: TARGETS } } });
    const providers = { ...('providers' in config && (config.providers as object)), pool };
    await untilLogged('Provider pool: the keys without organisation (one, two) share one set of rate limits', () =>
      write({ ...config, providers }),
    );
  });

  test('is reloaded on SIGHUP, also without a change', async () => {
    await untilLogged(RELOADED, () => pair.gateway.signal('SIGHUP'));
    expect((await ask('second')).status).toBe(200);
  });
});

describe('a file that a SIGHUP finds', () => {
  test('is watched from then on; if it goes or is emptied, what it configured stays', async () => {
    const gateway = await startGateway();
    const statusOf = async (model: string) => (await post(gateway, 'chat', goodBody('chat', { model }))).status;
    const untilServed = (model: string) =>
      eventually(`${model} to be served`, async () => ((await statusOf(model)) === 200 ? true : null), RELOAD_MS_MAX);
    const writeModel = (model: string) =>
      writeFileSync(
        gateway.configFile,
        JSON.stringify(contractConfig(pair.fake.url, { models: { [model]: { targets: TARGETS, price: 'free' } } })),
      );
    writeModel('found');
    gateway.signal('SIGHUP');
    await untilServed('found');
    writeModel('edited');
    await untilServed('edited');
    const untilKept = (times: number) =>
      eventually(
        'the log to name the file',
        () => gateway.stderr().split('file is gone or empty').length > times || null,
      );
    // As an editor leaves it for a moment, and a full disk for longer.
    writeFileSync(gateway.configFile, '# nothing yet\n');
    await untilKept(1);
    expect(await statusOf('edited')).toBe(200);
    rmSync(gateway.configFile);
    gateway.signal('SIGHUP');
    await untilKept(2);
    expect(await statusOf('edited')).toBe(200);
    expect(await gateway.stop()).toBe(0);
  });
});

describe('a bad file', () => {
  const bad = () => ({ ...contractConfig(pair.fake.url, { models: { never: { targets: TARGETS } } }), surprise: 1 });

  test('keeps the running configuration and reports the problem, on a change and on SIGHUP', async () => {
    await untilLogged(KEPT, () => write(bad()));
    expect(`${pair.gateway.stdout()}${pair.gateway.stderr()}`).toContain('surprise');
    await untilLogged(KEPT, () => pair.gateway.signal('SIGHUP'));
    await untilLogged(KEPT, () => write('models: [this is: not'));
    expect((await ask('ok')).status).toBe(200);
    expect((await ask('never')).status).toBe(403);
    expect((await fetch(`${pair.gateway.url}/readyz`)).status).toBe(200);
  });

  test('check names line, path, found and expected, and ends with 1', async () => {
    write(
      `${JSON.stringify(contractConfig(pair.fake.url))}`.replace(
        /}$/,
        ',\n"limits": {"body_bytes_max": "lots"},\n"surprise": 1}',
      ),
    );
    const { runProcess, configFile } = pair.gateway;
    const [{ status, stdout }, json] = await Promise.all([
      runProcess('check', configFile),
      runProcess('check', '--json', configFile),
    ]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/2(:\d+)?.*limits\.body_bytes_max.*lots/);
    expect(stdout).toMatch(/3(:\d+)?.*surprise/);
    expect(stdout).toContain('2 problems');
    expect(json.status).toBe(1);
    const problems = json.stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(problems).toEqual([
      expect.objectContaining({
        ok: false,
        line: 2,
        path: 'limits.body_bytes_max',
        message: expect.stringContaining('lots'),
      }),
      expect.objectContaining({
        ok: false,
        line: 3,
        path: expect.stringContaining('surprise'),
        message: expect.any(String),
      }),
    ]);
  });

  test('a good file after it is taken over again; check is content with it', async () => {
    write(contractConfig(pair.fake.url, { models: { back: { targets: TARGETS } } }));
    await untilStatus('back', 200);
    const { status, stdout } = await pair.gateway.runProcess('check', '--json', pair.gateway.configFile);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, models: expect.arrayContaining(['ok', 'm-ok', 'back']) });
  });

  test('check --schema prints a JSON Schema with every limit', async () => {
    const { status, stdout } = await pair.gateway.runProcess('check', '--schema');
    expect(status).toBe(0);
    const schema = JSON.parse(stdout) as { properties: { limits: { properties: object } } };
    expect(Object.keys(schema.properties.limits.properties).sort()).toEqual(Object.keys(LIMITS).sort());
  });
});
