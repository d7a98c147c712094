/** Tests the drawn QR code with another library's reader, as an authenticator's camera would see it. */
import { expect, test } from 'bun:test';
import readQr from 'jsqr';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Qr } from './second-factor-panel.tsx';

const PIXELS = 4;
const WHITE = 255;

/** The text that a reader decodes from the drawing. */
function readDrawn(svg: string): string | undefined {
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]) * PIXELS;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(WHITE);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < PIXELS; row++) {
      const start = ((Number(y) * PIXELS + row) * size + Number(x) * PIXELS) * 4;
      for (let column = 0; column < PIXELS; column++) pixels.fill(0, start + column * 4, start + column * 4 + 3);
    }
  }
  return readQr(pixels, size, size, { inversionAttempts: 'dontInvert' })?.data;
}

test.each([
  `otpauth://totp/Tollgate:ada%40example.com?secret=${'JBSWY3DP'.repeat(4)}&issuer=Tollgate&digits=6&period=30`,
  `otpauth://totp/Tollgate:${'a'.repeat(250)}%40example.com?secret=${'JBSWY3DP'.repeat(4)}&issuer=Tollgate`,
  'Jürgen’s key',
])('a reader finds %p', (text) => {
  const svg = renderToStaticMarkup(createElement(Qr, { text, label: 'The key' }));
  expect(readDrawn(svg)).toBe(text);
  expect(svg).toContain('role="img" aria-label="The key"');
});
