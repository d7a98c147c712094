/** Tests which headers accept an encoding. */
import { expect, test } from 'bun:test';
import { acceptsEncoding } from './accepts-encoding.ts';

test.each(['gzip', 'br, gzip', 'gzip;q=0.5, br', 'identity,gzip'])('%s takes gzip', (header) => {
  expect(acceptsEncoding(header, 'gzip')).toBeTrue();
});

test.each([null, '', 'br', 'gzip;q=0', 'gzip; q=0.00', 'x-gzip'])('%s does not', (header) => {
  expect(acceptsEncoding(header, 'gzip')).toBeFalse();
});
