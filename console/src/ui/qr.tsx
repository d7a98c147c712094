/** Owns showing a QR code: dark on light in both themes, since many readers take no other, with the quiet zone around it. */
import { qrCode } from '../lib/qr/qr-code.ts';

const QUIET = 4;

/** Nothing where the text is too long for a code: whoever uses it offers the text as well. */
export function Qr({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = qrCode(text);
  if (rows === null) return null;
  const size = rows.length + 2 * QUIET;
  const path = rows
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + QUIET} ${y + QUIET}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 rounded-md border border-line"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
