/** Tests which requests count as sent by a page of this server. */
import { expect, test } from 'bun:test';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { checkSameOrigin } from './console-api.ts';

const OWN = { host: 'gw.example:8080' };

test.each([
  ['a page of ours', { ...OWN, origin: 'http://gw.example:8080', 'sec-fetch-site': 'same-origin' }, 'own'],
  ['a browser that says only its origin', { ...OWN, origin: 'http://gw.example:8080' }, 'own'],
  [
    'a page at the public address, behind a proxy',
    { host: '10.0.0.5', origin: 'https://gw.example', 'sec-fetch-site': 'same-origin' },
    'own',
  ],
  ['another site', { ...OWN, origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }, 'other'],
  [
    'another site of the same domain',
    { ...OWN, origin: 'http://www.gw.example', 'sec-fetch-site': 'same-site' },
    'other',
  ],
  ['another site in an old browser', { ...OWN, origin: 'http://evil.example' }, 'other'],
  ['the public address, by http', { host: '10.0.0.5', origin: 'http://gw.example' }, 'other'],
  ['a page that hides its origin', { ...OWN, origin: 'null', 'sec-fetch-site': 'same-origin' }, 'other'],
  ['an address that was typed', { ...OWN, 'sec-fetch-site': 'none' }, 'other'],
  ['nothing said at all', OWN, 'other'],
])('%s', (_name, headers, whose) => {
  const request = new Request('http://gw.example:8080/app/api/sign-out', { method: 'POST', headers });
  const check = () => checkSameOrigin(request, 'https://gw.example');
  if (whose === 'own') expect(check).not.toThrow();
  else expect(check).toThrow(ConsoleFailure);
});

test('reading is no matter of where it comes from', () => {
  const headers = { ...OWN, origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' };
  expect(() => checkSameOrigin(new Request('http://gw.example:8080/', { headers }), null)).not.toThrow();
});
