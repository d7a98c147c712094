/** Renders placeholders for loading content in its size, so that nothing moves when it arrives. */

/** One line; width in percent. */
export function SkeletonLine({ width = 100 }: { readonly width?: number }) {
  return (
    <span
      className="block h-3.5 animate-[pulse-soft_1.6s_ease-in-out_infinite] rounded-sm bg-hover"
      style={{ width: `${width}%` }}
    />
  );
}

const WIDTHS = [72, 58, 80, 64, 70, 52, 76, 60];

/** Rows of a table or list. */
export function SkeletonRows({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="rounded-lg border border-line bg-panel">
      {Array.from({ length: rows }, (_, at) => at).map((at) => (
        <div key={at} className="flex h-8 items-center gap-6 border-b border-line px-3 last:border-0">
          <SkeletonLine width={(WIDTHS[at % WIDTHS.length] ?? 60) / 2} />
          <SkeletonLine width={(WIDTHS[(at + 3) % WIDTHS.length] ?? 60) / 3} />
        </div>
      ))}
    </div>
  );
}

/** A surface of the given height, for charts and cards. */
export function SkeletonPanel({ heightPx }: { readonly heightPx: number }) {
  return (
    <div
      role="status"
      aria-label="Loading"
      className="animate-[pulse-soft_1.6s_ease-in-out_infinite] rounded-lg border border-line bg-sunken"
      style={{ height: heightPx }}
    />
  );
}
