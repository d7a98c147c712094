/** Tests how `${NAME}` is hidden from YAML, substituted, and refused. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { hasPlaceholders, hideExpressions, showExpressions, substituteEnvironment } from './yaml-tree.ts';

const ENVIRONMENT = { HOST: 'example.com', PORT: '8080', EMPTY: '', ODD: `\${PORT}: {a: [b]}` };

describe('substituteEnvironment', () => {
  test.each([
    ['plain text', 'plain text'],
    [`\${HOST}`, 'example.com'],
    [`http://\${HOST}:\${PORT}/v1`, 'http://example.com:8080/v1'],
    [`\${UNSET:-fallback}`, 'fallback'],
    [`\${UNSET:-}`, ''],
    [`\${EMPTY:-fallback}`, 'fallback'],
    [`\${EMPTY}`, ''],
    [`\${HOST:-fallback}`, 'example.com'],
    [`\${UNSET:-a: b, "c" # d}`, 'a: b, "c" # d'],
    [`$\${HOST}`, `\${HOST}`],
    [`$$\${HOST}`, `$\${HOST}`],
    ['$HOST and $', '$HOST and $'],
    ['{HOST}', '{HOST}'],
  ])('%s becomes %s', (text, value) => {
    expect(substituteEnvironment(text, ENVIRONMENT)).toMatchObject({ text: value });
  });

  test('a substituted value is not expanded again', () => {
    expect(substituteEnvironment(`\${ODD}`, ENVIRONMENT)).toEqual({ text: `\${PORT}: {a: [b]}`, substituted: true });
  });

  test.each([
    [`\${UNSET}`, `\${UNSET}, but there is no environment variable UNSET`],
    [`\${toString}`, `\${toString}, but there is no environment variable toString`],
    [`\${__proto__}`, `\${__proto__}, but there is no environment variable __proto__`],
    [`\${}`, `a \${…} without a variable name`],
    [`\${1A}`, `a \${…} without a variable name`],
    [`\${HOST-x}`, `a \${…} without a variable name`],
    [`\${ HOST }`, `a \${…} without a variable name`],
    [`\${HOST`, `a \${ without a closing }`],
    [`\${HOST} \${`, `a \${ without a closing }`],
  ])('%s is refused', (text, found) => {
    expect(substituteEnvironment(text, ENVIRONMENT)).toMatchObject({ found });
  });
});

describe('hideExpressions', () => {
  test('hides expressions from YAML and keeps their length', () => {
    const text = `{ a: \${X:-b: c, "d" # e}, f: \${Y} }`;
    const hidden = hideExpressions(text);
    expect(hidden.length).toBe(text.length);
    expect(hidden.replace(/[\ue000-\ue07f]/g, '_')).toBe(`{ a: ${'_'.repeat(19)}, f: ____ }`);
  });

  test('is reversed by showExpressions for any text', () => {
    const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(`\${`, '}', '$', `\${A}`, ':-', '\n'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        fc.pre(!hasPlaceholders(text));
        expect(showExpressions(hideExpressions(text))).toBe(text);
      }),
    );
  });
});
