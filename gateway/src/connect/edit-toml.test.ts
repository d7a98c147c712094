/** Tests that TOML is edited line by line, and that a file in another form is refused instead of broken. */
import { describe, expect, test } from 'bun:test';
import { setToml } from './tools.ts';

const connect = (text: string, model = 'm') =>
  setToml(text, { model, p: 'own' }, 'providers.own', { url: 'u', key: 'k' });
const OWN = '[providers.own]\nurl = "u"\nkey = "k"\n';

test('an empty file gets the members and the table', () => {
  expect(connect('')).toBe(`model = "m"\np = "own"\n\n${OWN}`);
});

test('members are replaced in their line, others are added before all else; comments stay', () => {
  const file = '# mine\nmodel = "o" # old\neffort = "high"\n\n[tui]\nmodel = "x"\n';
  expect(connect(file)).toBe(`p = "own"\n# mine\nmodel = "m"\neffort = "high"\n\n[tui]\nmodel = "x"\n\n${OWN}`);
});

test('an earlier table is replaced with all its members; the comment before the next one stays', () => {
  const file = `model = "m"\np = "own"\n\n[ providers.own ] # old\nenv_key = "E"\n\n# next\n[[hooks]]\na = 1\n`;
  expect(connect(file)).toBe(`model = "m"\np = "own"\n\n${OWN}\n# next\n[[hooks]]\na = 1\n`);
});

test('editing again changes nothing', () => {
  const once = connect('a = [\n  1,\n]\n[b]\nc = """\n[providers.x]\n"""\n');
  expect(connect(once)).toBe(once);
});

test('any name of a model comes back', () => {
  const model = `it's "odd" \\ é\t`;
  expect(Bun.TOML.parse(connect('', model))).toMatchObject({ model });
});

describe('is refused', () => {
  test.each([
    ['text that is not TOML', 'model = \n'],
    ['a text of several lines', 'model = """\no\n"""\n'],
    ['an inline table', 'providers = { own = { env_key = "E" } }\n'],
    ['dotted members', 'providers.own.env_key = "E"\n'],
    ['a table with tables of its own', '[providers.own]\nurl = "x"\n[providers.own.auth]\ncommand = "c"\n'],
    ['a header within a text', 'a = """\n[providers.own]\n"""\n'],
  ])('%s', (_, file) => {
    expect(() => connect(file)).toThrow();
  });
});
