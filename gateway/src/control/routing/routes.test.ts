/** Tests the commands on routes: validation as of the file, precedence of the file, rotation, and audit entries. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { inRotation } from '../../config/console-entries.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { createRoutingRig, type RoutingRig } from '../testing/routing-rig.ts';

const newFolder = temporaryFolders();
let rig: RoutingRig;

beforeEach(async () => {
  rig = await createRoutingRig(newFolder());
});

const TWO = [
  { provider: 'filed', model: 'big', name: 'main', weight: 3, tags: ['eu'], timeouts: { first_byte: '60s' } },
  { provider: 'entered', model: 'theirs', max_concurrency: 5, price: { input: 3, output: '15' } },
];
const targetsOf = async (name: string) => (await rig.served()).models.get(name)?.targets.map((target) => target.name);
const inForce = async (name: string) =>
  inRotation(await rig.served())
    .get(name)
    ?.targets.map((target) => target.name);

describe('a route', () => {
  test('is created with its targets and policy, and serves its name and aliases', async () => {
    const given = { targets: TWO, routing: { affinity: 'off', uncertain_retry: 0.25 }, alias: ['nick'] };
    const made = await rig.run('routes.create', { model: 'new', ...given });
    expect(made).toMatchObject({
      model: 'new',
      source: 'console',
      served: true,
      aliases: ['nick'],
      routing: { strategy: 'weight', affinity: 'off', uncertain_retry: '0.25', max_extra_attempts: 2, hedge: 'off' },
      targets: [
        { name: 'main', provider: 'filed', model: 'big', weight: 3, tags: ['eu'], timeouts_ms: { first_byte: 60_000 } },
        { name: 'entered/theirs', priority: 1, max_concurrency: 5, has_own_price: true, out_of_rotation_since: null },
      ],
      definition: given,
      problem: null,
    });
    expect(await targetsOf('nick')).toEqual(['main', 'entered/theirs']);
    expect(rig.audited).toMatchObject([
      { act: 'routes.create', account: 'default', subject: { kind: 'route', id: 'new' }, before: null, after: given },
    ]);
  });

  test.each([
    ['text-embedding-3-small', ['embeddings']],
    ['gpt-5-mini', ['chat', 'messages', 'responses', 'gemini']],
  ])('shows the endpoints that its targets serve: %s', async (model, protocols) => {
    expect(await rig.run('routes.create', { model: 'new', targets: [{ provider: 'filed', model }] })).toMatchObject({
      protocols,
    });
  });

  test('replaces the model that a provider serves by itself, which comes back once it is removed', async () => {
    expect(await targetsOf('own')).toEqual(['entered/theirs']);
    await rig.run('routes.create', { model: 'own', targets: TWO });
    expect(await targetsOf('own')).toEqual(['main', 'entered/theirs']);
    expect(await rig.run('routes.remove', { model: 'own' })).toEqual({ model: 'own', removed: true });
    expect(await targetsOf('own')).toEqual(['entered/theirs']);
    expect(rig.audited.at(-1)).toMatchObject({ act: 'routes.remove', before: { targets: TWO }, after: null });
  });

  test('keeps members that a change omits and loses those that it sets to null; no change leaves no entry', async () => {
    await rig.run('routes.create', { model: 'new', targets: TWO, alias: ['nick'], routing: { affinity: 'prefix' } });
    await rig.run('routes.set', { model: 'new', alias: null, routing: { affinity: 'off' } });
    expect(await rig.run('routes.show', { model: 'new' })).toMatchObject({
      aliases: [],
      definition: { targets: TWO, routing: { affinity: 'off' } },
    });
    expect(rig.audited.at(-1)).toMatchObject({
      act: 'routes.set',
      before: { alias: ['nick'], routing: { affinity: 'prefix' } },
      after: { routing: { affinity: 'off' } },
    });
    const count = rig.audited.length;
    await rig.run('routes.set', { model: 'new', routing: { affinity: 'off' } });
    expect(rig.audited).toHaveLength(count);
  });

  test('is not changed over what another user changed since it was read, and says what it is now', async () => {
    const model = 'new';
    await rig.run('routes.create', { model, targets: TWO });
    const before = { targets: TWO, routing: null };
    await rig.run('routes.set', { model, targets: TWO.slice(1), before });
    const refusal = await rig.refusal('routes.set', { model, targets: TWO.slice(0, 1), before });
    expect(refusal).toMatchObject({ kind: 'failed' });
    expect(refusal.message).toContain('changed the targets of new meanwhile (removed main)');
    expect(await targetsOf(model)).toEqual(['entered/theirs']);
    await rig.run('routes.set', { model, routing: { strategy: 'price' }, before: { routing: null } });
    const policy = await rig.refusal('routes.set', { model, routing: null, before: { routing: null } });
    expect(policy.message).toContain('changed the routing of new meanwhile (now {"strategy":"price"})');
  });

  test.each([
    [{ targets: [] }, /^targets: found an empty list, expected at least one item/],
    [{ targets: [{ provider: 'filde' }] }, /^targets\.0\.provider: found 'filde', .*Did you mean filed\?$/],
    [
      { targets: [{ provider: 'filed', weight: -1 }] },
      /^targets\.0\.weight: found '-1', expected a whole number from 0/,
    ],
    [{ targets: [{ provider: 'filed', wieght: 1 }] }, /^targets\.0\.wieght: .*Did you mean weight\?$/],
    [{ targets: [{ provider: 'filed' }, { provider: 'filed' }] }, /^targets\.1: found 'new' at filed twice/],
    [
      { targets: [{ provider: 'filed', timeouts: { idle: '1' } }] },
      /^targets\.0\.timeouts\.idle: found '1', .*duration/,
    ],
    [
      { targets: [{ provider: 'filed' }], routing: { strategy: 'best' } },
      /^routing\.strategy: found 'best', expected one/,
    ],
    [
      { targets: [{ provider: 'filed' }], alias: ['from-file'] },
      /^alias\.0: found "from-file", which is already a name/,
    ],
    [{ targets: 'filed' }, /^targets: /],
  ])('refuses %j with the words of the configuration', async (members, words) => {
    const refused = await rig.refusal('routes.create', { model: 'new', ...members });
    expect(refused.kind).toBe('usage');
    expect(refused.message).toMatch(words);
    expect(rig.audited).toEqual([]);
  });

  test('that the file defines is read-only, under its aliases too', async () => {
    for (const model of ['from-file', 'file-alias']) {
      expect((await rig.refusal('routes.set', { model, alias: null })).message).toContain('read-only here');
    }
    const taken = await rig.refusal('routes.create', { model: 'from-file', targets: TWO });
    expect(taken.message).toContain('The configuration file defines the model from-file');
    const alias = await rig.refusal('routes.create', { model: 'file-alias', targets: TWO });
    expect(alias.message).toStartWith('model: found "file-alias", which is already a name of the model from-file');
    expect((await rig.refusal('routes.set', { model: 'own', alias: null })).message).toContain(
      'has no route of its own',
    );
    expect((await rig.refusal('routes.remove', { model: 'gone' })).message).toContain('There is no model "gone"');
  });

  test('belongs to the operator: other requesters neither see nor change it', async () => {
    rig.by = { ...rig.by, authority: 'account' };
    for (const [act, given] of [
      ['routes.list', {}],
      ['routes.create', { model: 'new', targets: TWO }],
      ['routes.disable', { model: 'from-file', target: 'second' }],
      ['credentials.list', {}],
    ] as const) {
      expect((await rig.refusal(act, given)).kind).toBe('forbidden');
    }
  });
});

describe('rotation of targets', () => {
  test('takes a target out, of the file too, and puts it back, each with an entry and once', async () => {
    const subject = { model: 'file-alias', target: 'second' };
    const out = await rig.run('routes.disable', subject);
    expect(out).toMatchObject({ model: 'from-file', targets: [{}, { out_of_rotation_since: expect.any(String) }] });
    await rig.run('routes.disable', subject);
    expect(await inForce('from-file')).toEqual(['filed/from-file']);
    expect(await targetsOf('from-file')).toEqual(['filed/from-file', 'second']);
    await rig.run('routes.enable', subject);
    await rig.run('routes.enable', subject);
    expect(await inForce('file-alias')).toEqual(['filed/from-file', 'second']);
    expect(rig.audited.map(({ act, subject: { id }, after }) => [act, id, after])).toEqual([
      ['routes.disable', 'from-file second', { in_rotation: false }],
      ['routes.enable', 'from-file second', { in_rotation: true }],
    ]);
  });

  test('never leaves a model without a target', async () => {
    await rig.run('routes.disable', { model: 'from-file', target: 'second' });
    const last = await rig.refusal('routes.disable', { model: 'from-file', target: 'filed/from-file' });
    expect(last.message).toContain('is the only target of from-file in rotation');
    // The file may lose the others later.
    const sinceMs = 1;
    await rig.book.save([
      { of: 'out_of_rotation', out: { kind: 'target', owner: 'from-file', name: 'filed/from-file', sinceMs } },
    ]);
    expect(await inForce('from-file')).toEqual(['filed/from-file', 'second']);
  });

  test('closes a breaker by hand on a running server, with an entry', async () => {
    expect(await rig.run('routes.close', { model: 'file-alias', target: 'second' })).toMatchObject({ closed: true });
    expect(rig.closed).toEqual(['from-file second']);
    expect(rig.audited).toMatchObject([
      { act: 'routes.close', subject: { kind: 'target', id: 'from-file second' }, after: { breaker: 'closed' } },
    ]);
    const { id } = await rig.run('keys.create', { name: 'n' });
    expect(await rig.run('routes.explain', { model: 'm', key: id })).toMatchObject({ model: 'm' });
    expect(rig.explained).toEqual([{ model: 'm', protocol: null, keyId: String(id), body: null, session: null }]);
    expect((await rig.refusal('routes.explain', { model: 'm', key: 'key_none' })).message).toContain('There is no key');
  });

  test('forgets targets that a change of their route removes', async () => {
    await rig.run('routes.create', { model: 'new', targets: TWO });
    await rig.run('routes.disable', { model: 'new', target: 'main' });
    await rig.run('routes.set', { model: 'new', targets: TWO.slice(1) });
    await rig.run('routes.set', { model: 'new', targets: TWO });
    expect(await inForce('new')).toEqual(['main', 'entered/theirs']);
  });
});

describe('credentials', () => {
  const ADDED = { provider: 'entered', name: 'spare', secrets: { api_key: 'another-long-secret' } };
  const poolOf = async (model: string) =>
    inRotation(await rig.served())
      .get(model)
      ?.targets[0].provider.credentials?.pool.map(({ name, secrets }) => [name, secrets.api_key?.reveal()]);

  test('are added to a pool, sealed for the origin of the provider, and never shown', async () => {
    const made = await rig.run('credentials.add', { ...ADDED, weight: 2, organisation: 'acme', models: ['theirs'] });
    expect(made).toMatchObject({
      last4: 'cret',
      weight: 2,
      organisation: 'acme',
      models: ['theirs'],
      source: 'console',
    });
    expect(await poolOf('own')).toEqual([
      ['default', 'the-first-secret'],
      ['spare', 'another-long-secret'],
    ]);
    const texts = JSON.stringify([
      await rig.run('credentials.list'),
      rig.audited,
      await rig.book.readCredentials(),
      await rig.run('routes.list'),
    ]);
    for (const secret of ['another-long', 'the-first', 'secret-of-the-file']) expect(texts).not.toContain(secret);
    const listed = (await rig.run('credentials.list')) as unknown as { provider: string; name: string }[];
    expect(listed.map(({ provider, name }) => `${provider}/${name}`)).toEqual([
      'filed/default',
      'other/default',
      'entered/default',
      'entered/spare',
    ]);
  });

  test('do not open under another name or for another provider', async () => {
    await rig.run('credentials.add', ADDED);
    const [first, spare] = await rig.book.readCredentials();
    if (first === undefined || spare === undefined) throw new Error('expected two credentials');
    await rig.book.save([{ of: 'credential', isNew: false, credential: { ...first, sealed: spare.sealed } }]);
    expect(await poolOf('own')).toEqual([['spare', 'another-long-secret']]);
    expect((await rig.served()).providers[0]?.problem).toContain("without its credentials 'default'");
  });

  test('are replaced, changed and removed with an entry each', async () => {
    await rig.run('credentials.add', ADDED);
    await rig.run('credentials.replace', { ...ADDED, secrets: { api_key: 'the-newest-secret' } });
    await rig.run('credentials.set', { provider: 'entered', name: 'spare', weight: 5 });
    expect((await poolOf('own'))?.[1]).toEqual(['spare', 'the-newest-secret']);
    await rig.run('credentials.remove', { provider: 'entered', name: 'spare' });
    expect(await poolOf('own')).toHaveLength(1);
    expect(rig.audited.slice(1)).toMatchObject([
      {
        act: 'credentials.replace',
        subject: { kind: 'credential', id: 'entered/spare' },
        after: { secrets: 'replaced' },
      },
      { act: 'credentials.set', before: { weight: 1 }, after: { weight: 5 } },
      { act: 'credentials.remove', before: { last4: 'cret', weight: 5 }, after: null },
    ]);
  });

  test('leave no model without one', async () => {
    const first = { provider: 'entered', name: 'default' };
    for (const [act, given] of [
      ['credentials.remove', first],
      ['credentials.disable', first],
      ['credentials.disable', { provider: 'filed', name: 'default' }],
      ['credentials.set', { ...first, models: ['theirs'] }],
    ] as const) {
      expect((await rig.refusal(act, given)).message).toContain('would be left for');
    }
    await rig.run('credentials.add', { ...ADDED, models: ['theirs'] });
    expect((await rig.refusal('credentials.disable', first)).message).toContain('would be left for theirs-too');
    await rig.run('credentials.set', { ...first, models: ['theirs-too'] });
    expect(await poolOf('own')).toHaveLength(2);
    expect((await rig.served()).models.get('own')?.targets).toHaveLength(1);
  });

  test('go out of rotation and back; of the file they are otherwise read-only', async () => {
    await rig.run('credentials.add', ADDED);
    await rig.run('credentials.disable', { provider: 'entered', name: 'default' });
    expect(await poolOf('own')).toEqual([['spare', 'another-long-secret']]);
    await rig.run('credentials.enable', { provider: 'entered', name: 'default' });
    expect(await poolOf('own')).toHaveLength(2);
    for (const act of ['credentials.add', 'credentials.replace'] as const) {
      expect((await rig.refusal(act, { ...ADDED, provider: 'filed' })).message).toContain('read-only here');
    }
  });

  test.each([
    [{ secrets: { password: 'x' } }, /^secrets\.password: found a secret that openai-compatible does not take/],
    [{ secrets: { api_key: 'with space' } }, /^secrets\.api_key: found characters that are not visible ASCII/],
    [{ name: 'a b' }, /^name: expected a name of 1 to 64/],
    [{ name: 'default' }, /already has a credential default/],
    [{ weight: 1.5 }, /^weight: expected a whole number from 0 to 1000/],
    [{ provider: 'gone' }, /There is no provider "gone"/],
  ])('refuse %j', async (members, words) => {
    const { message } = await rig.refusal('credentials.add', { ...ADDED, ...members });
    expect(message).toMatch(words);
    expect(message).not.toContain('with space');
  });
});

describe('the models of a provider', () => {
  test('are listed with the names that the gateway serves them under', async () => {
    expect(await rig.run('providers.models', { provider: 'entered' })).toEqual({
      provider: 'entered',
      message: 'It has 2 models.',
      models: [
        { model: 'theirs', served_as: ['own'], retires: null },
        { model: 'free', served_as: [], retires: { on: '2026-12-31', by: 'provider' } },
      ],
      cut: false,
    });
    await rig.run('routes.create', { model: 'free', targets: [{ provider: 'entered', model: 'free' }] });
    expect(await rig.run('providers.models', { provider: 'entered' })).toMatchObject({
      models: [{ model: 'theirs' }, { model: 'free', served_as: ['free'] }],
    });
  });

  test('keep no other command waiting while the provider is slow', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.probing.until = promise;
    const listed = rig.run('providers.models', { provider: 'entered' });
    await rig.run('routes.create', { model: 'free', targets: [{ provider: 'entered', model: 'free' }] });
    resolve();
    expect(await listed).toMatchObject({ models: [{ model: 'theirs' }, { model: 'free', served_as: [] }] });
  });

  test('are not, with one remedy, where the provider refuses or does not exist', async () => {
    const refused = rig.run('providers.models', { provider: 'other' });
    await expect(refused).rejects.toThrow('other: It answered 401. Enter its credential again.');
    await expect(rig.run('providers.models', { provider: 'none' })).rejects.toThrow('There is no provider "none"');
  });
});
