/** Tests how an address selects calls without a value for a field. */
import { expect, test } from 'bun:test';
import { filterChange, readWithout, withoutQuery } from './filters.ts';

test('sets, empties or removes one filter and keeps the others', () => {
  const search = { model: 'm', without: 'session,member' };
  expect(filterChange(search, 'model', null)).toEqual({ model: undefined, without: 'session,member,model' });
  expect(filterChange(search, 'session', 's')).toEqual({ session: 's', without: 'member' });
  expect(filterChange({ without: 'session' }, 'session', undefined)).toEqual({
    session: undefined,
    without: undefined,
  });
});

test('a session named none is not a missing session', () => {
  expect([readWithout({ session: 'none' }), readWithout({ without: '' })]).toEqual([[], []]);
});

test('omits unknown dimensions and those with a value', () => {
  const known = ['model', 'session'];
  expect(withoutQuery({ without: 'colour,session,session,model', model: 'm' }, known)).toEqual({ without: 'session' });
  expect(withoutQuery({ without: 'colour' }, known)).toEqual({});
});
