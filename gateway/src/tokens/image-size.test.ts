/** Tests reading an image's size. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readImageSize } from './estimate-tokens.ts';

const hex = (text: string) => Buffer.from(text.replace(/ /g, ''), 'hex').toString('base64');
const riff = (chunk: string, body: string) =>
  Buffer.concat([
    Buffer.from(`RIFF\0\0\0\0WEBP${chunk}\0\0\0\0`, 'latin1'),
    Buffer.from(body.replace(/ /g, ''), 'hex'),
  ]).toString('base64');

test.each([
  ['PNG', hex('89504e470d0a1a0a 0000000d 49484452 00000190 0000012d 08060000'), { width: 400, height: 301 }],
  ['GIF', hex('474946383961 4001 f000 800000'), { width: 320, height: 240 }],
  ['JPEG', hex('ffd8 ffe0 0004 4a46 ffc4 0003 00 ffc0 0011 08 0168 021c 03 0000'), { width: 540, height: 360 }],
  ['progressive JPEG behind a fill byte', hex('ffd8 ff ffc2 0011 08 0168 021c 03 0000'), { width: 540, height: 360 }],
  ['lossy WebP', riff('VP8 ', '000000 9d012a 9001 2d41 00'), { width: 400, height: 301 }],
  ['lossless WebP', riff('VP8L', '2f 8f014b00 0000000000'), { width: 400, height: 301 }],
  ['extended WebP', riff('VP8X', '00000000 8f0100 2c0100'), { width: 400, height: 301 }],
])('%s', (_, base64, size) => {
  expect(readImageSize(base64)).toEqual(size);
});

test.each([
  ['nothing', ''],
  ['no base64', '!!!'],
  ['a PDF', Buffer.from('%PDF-1.7 and so on, longer than any head').toString('base64')],
  ['a PNG cut short', hex('89504e470d0a1a0a 0000000d 49484452')],
  ['a JPEG whose segments lead nowhere', hex('ffd8 ffe0 ffff 00000000000000')],
  ['an image of no width', hex('89504e470d0a1a0a 0000000d 49484452 00000000 0000012d 08060000')],
])('%s has no size', (_, base64) => {
  expect(readImageSize(base64)).toBeNull();
});

test('bytes that begin like an image never throw and never hang', () => {
  const magic = fc.constantFrom('ffd8ff', '89504e47', '47494638', '52494646000000005745425056503858');
  fc.assert(
    fc.property(magic, fc.uint8Array({ maxLength: 200 }), (head, rest) => {
      const size = readImageSize(Buffer.concat([Buffer.from(head, 'hex'), rest]).toString('base64'));
      expect(size === null || (size.width > 0 && size.height > 0)).toBe(true);
    }),
  );
});
