/** Renders tiny bar charts for tables and cards, with a text alternative. */

interface SparklineProps {
  readonly values: readonly number[];
  /** "Requests per day, last 7 days: …". */
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
}

export function Sparkline({ values, label, width = 72, height = 20 }: SparklineProps) {
  const most = Math.max(...values, 0);
  const step = width / Math.max(values.length, 1);
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="block"
    >
      <title>{label}</title>
      {values.map((value, at) => {
        const tall = most === 0 || value <= 0 ? 1 : Math.max(2, (value / most) * height);
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: bars are identified by position
            key={at}
            x={at * step + 0.5}
            y={height - tall}
            width={Math.max(1, step - 2)}
            height={tall}
            rx={1}
            fill={value > 0 ? 'var(--accent)' : 'var(--line-strong)'}
          />
        );
      })}
    </svg>
  );
}
