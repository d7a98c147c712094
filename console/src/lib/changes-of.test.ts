/** Tests that a form sends only the fields that were changed. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { changesOf } from '../policy/read.ts';

test('sends changed members, whole lists and emptied values', () => {
  const opened = { id: 'key_1', name: 'a', models: ['m'], ips: ['::1'], strict: false };
  expect(changesOf(opened, { name: 'b', models: ['m'], ips: null, strict: false })).toEqual({ name: 'b', ips: null });
  expect(changesOf(opened, { name: 'a', models: ['m', 'n'] })).toEqual({ models: ['m', 'n'] });
});

test('keeps concurrent changes of other members', () => {
  const record = fc.record({ name: fc.string(), models: fc.option(fc.array(fc.string())), strict: fc.boolean() });
  fc.assert(
    fc.property(record, record, record, (opened, filled, meanwhile) => {
      const after = { ...meanwhile, ...changesOf(opened, filled) };
      for (const member of ['name', 'models', 'strict'] as const) {
        const isTouched = !Bun.deepEquals(opened[member], filled[member]);
        expect(after[member]).toEqual(isTouched ? filled[member] : meanwhile[member]);
      }
    }),
  );
});
