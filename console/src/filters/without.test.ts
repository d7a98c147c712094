/** Tests how an address selects calls without a value for a field. */
import { expect, test } from 'bun:test';
import { filterChange, readWithout, withoutQuery } from './without.ts';

test('a filter is a value, none, or taken away, and the others stay', () => {
  const search = { model: 'm', without: 'session,member' };
  expect(filterChange(search, 'model', null)).toEqual({ model: undefined, without: 'session,member,model' });
  expect(filterChange(search, 'session', 's')).toEqual({ session: 's', without: 'member' });
  expect(filterChange({ without: 'session' }, 'session', undefined)).toEqual({
    session: undefined,
    without: undefined,
  });
});

test('a session that is called none is not none', () => {
  expect([readWithout({ session: 'none' }), readWithout({ without: '' })]).toEqual([[], []]);
});

test('what is not known, or has a value as well, is left out of the query', () => {
  const known = ['model', 'session'];
  expect(withoutQuery({ without: 'colour,session,session,model', model: 'm' }, known)).toEqual({ without: 'session' });
  expect(withoutQuery({ without: 'colour' }, known)).toEqual({});
});
