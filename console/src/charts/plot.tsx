/** Owns drawing columns or lines with their scale: colours of the theme, nothing that moves. The pointer is the chart's. */
import type { PlotGiven, PlotLayout } from './plot-layout.ts';

interface PlotProps {
  readonly shape: PlotGiven['shape'];
  readonly layout: PlotLayout;
  readonly columns: number;
}

/** With more, the hair between the pieces would be most of them. */
const PARTED_MAX = 120;

export function Plot({ shape, layout, columns }: PlotProps) {
  const { place, scale, labels, shapes } = layout;
  return (
    // A path is a style too: where every change of style takes its moment, the bars would stand between old and new.
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
          // A hair of the ground between pieces, so that neighbours part without colour.
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
