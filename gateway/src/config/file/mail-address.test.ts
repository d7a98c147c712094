/** Tests which addresses email can be sent to. */
import { expect, test } from 'bun:test';
import { isMailAddress } from './mail-address.ts';

test('an address is one that ends no header and no command', () => {
  for (const good of ['ada@example.com', 'a.b+c@sub.example.co', 'ops@intranet'])
    expect(isMailAddress(good)).toBe(true);
  const bad = [
    '',
    'ada',
    '@x.y',
    'a@',
    'a@b@c',
    'a b@c.d',
    'a@b.c\r\nx',
    'a,b@c.d',
    '<a@b.c>',
    'a@-b.c',
    '"a"@b.c',
    'ä@b.c',
  ];
  for (const text of [...bad, 'a..b@c.d', `${'a'.repeat(65)}@b.c`, `a@${'b'.repeat(260)}`])
    expect(isMailAddress(text)).toBe(false);
});
