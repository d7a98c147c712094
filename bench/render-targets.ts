/** Renders the verdicts on the targets. */
import type { BenchCase } from './cases.ts';
import { MISSING, renderColumns, renderNumber, renderSpread } from './render-columns.ts';
import type { JudgedTarget, Verdict } from './targets.ts';

const MARKS: Record<Verdict, string> = { met: '✓', missed: '✗', failed: '✗', 'not measured': MISSING };

/** Explains which baseline the plain call is compared with; the table shows both. */
const BASELINES =
  'A plain call is judged against the keyed proxy, which looks up a key and reads the usage, for the target of 1.6 was set\n' +
  'by such a one; streams and large requests against the blind proxy, which reads nothing. Added time is beyond the upstream,\n' +
  'called directly. The longest stall is that of all rounds; in brackets that of a process without a gateway in this run.';

function describeMeasure({ measure, subject, against }: JudgedTarget): string {
  if (measure === 'cpu') return `CPU, ${subject} / ${against}`;
  return measure === 'added' ? `p50, ${subject} − ${against}` : `longest stall, ${subject}`;
}

function renderFigure({ measure, figure, control }: JudgedTarget): string {
  if (measure === 'cpu') return renderSpread(figure);
  if (figure === null) return MISSING;
  if (measure === 'added') return `${renderSpread(figure)} ms`;
  return `${figure.highest.toFixed(1)} ms (${renderNumber(control?.highest ?? null, 1)})`;
}

/** One line per target: promise, result, verdict. */
export function renderTargets(targets: readonly JudgedTarget[], cases: readonly BenchCase[]): string {
  const lines = targets.map((target) => [
    `${MARKS[target.verdict]} ${cases.find(({ name }) => name === target.case)?.title ?? target.case}`,
    describeMeasure(target),
    `${target.bound} ${target.value}${target.measure === 'cpu' ? ' ×' : ' ms'}`,
    renderFigure(target),
    target.verdict,
  ]);
  return `Targets\n${renderColumns(lines)}\n${BASELINES}`;
}
