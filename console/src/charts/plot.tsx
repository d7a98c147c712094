/** Draws columns or lines with their scale, in theme colors and without animation. The chart handles the pointer. */
import type { PlotGiven, PlotLayout } from './plot-layout.ts';

interface PlotProps {
  readonly shape: PlotGiven['shape'];
  readonly layout: PlotLayout;
  readonly columns: number;
}

/** With more columns, the gaps between segments would take most of the width. */
const PARTED_MAX = 120;

export function Plot({ shape, layout, columns }: PlotProps) {
  const { place, scale, labels, shapes } = layout;
  return (
    // The shape of a path is a style property too: with a transition on styles, bars would animate from old to new.
    <svg
      aria-hidden="true"
      className="absolute inset-0 size-full overflow-hidden fill-ink-3 text-xs [&_path]:transition-none"
    >
      {scale.map(({ y, text }) => (
        <g key={y}>
          <path d={`M${place.left} ${y + 0.5}h${place.width}`} stroke="var(--line)" />
          <text x={place.left - 6} y={y} textAnchor="end" dominantBaseline="central">
            {text}
          </text>
        </g>
      ))}
      {labels.map(({ x, text }) => (
        <text key={x} x={x} y={place.top + place.height + 6} textAnchor="middle" dominantBaseline="hanging">
          {text}
        </text>
      ))}
      {shapes.map(({ color, path }, at) =>
        shape === 'bars' ? (
          // A thin stroke in the background color separates neighbors without relying on color.
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of drawing is what tells them apart
          <path key={at} d={path} fill={color} stroke="var(--panel)" strokeWidth={columns > PARTED_MAX ? 0 : 1} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order of drawing is what tells them apart
          <path key={at} d={path} fill="none" stroke={color} strokeWidth={1.75} strokeLinejoin="round" />
        ),
      )}
    </svg>
  );
}
