/** Renders the explanation of a route as `tollgate route explain` prints it: one line per target, in the order of trial. */
import { formatNanoUsd } from '../../billing/money.ts';
import type { ExplanationView } from '../../control/routing/routing-shapes.ts';
import { makeVisible } from '../environment.ts';

type TargetView = ExplanationView['targets'][number];

export function renderExplanation(view: ExplanationView): string {
  const { model, strategy, pin, needs, required_tags, input_tokens, refusal, targets } = view;
  const facts = [
    `strategy ${strategy ?? '-'}`,
    `pin ${pin ?? 'none'}`,
    ...(needs.length === 0 ? [] : [`needs ${needs.join(', ')}`]),
    ...(required_tags.length === 0 ? [] : [`requires ${required_tags.join(', ')}`]),
    ...(input_tokens === null ? [] : [`${shortCount(input_tokens)} tokens`]),
  ];
  const lines = [`${model}  ${facts.join(', ')}`];
  const rows = targets.map((target, index) => [
    // Those that are not tried follow the others.
    target.verdict === 'chosen' || target.verdict === 'fallback' ? String(index + 1) : '-',
    nameOf(target),
    ...wordsOf(target),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  for (const cells of rows) {
    const [place = '', name = '', state = '', verdict = ''] = cells;
    const [placeWidth = 0, nameWidth = 0, stateWidth = 0] = widths;
    lines.push(
      `  ${place.padEnd(placeWidth)} ${name.padEnd(nameWidth)}   ${state.padEnd(stateWidth)}   ${verdict}`.trimEnd(),
    );
  }
  if (refusal !== null) lines.push(`Refused: ${refusal}`);
  return `${lines.map(makeVisible).join('\n')}\n`;
}

/** The provider and the target; a name that begins with its provider names both. */
function nameOf({ provider, target }: TargetView): string {
  return target.startsWith(`${provider}/`) ? target : `${provider}/${target}`;
}

/** The target's state, or the cost of a call there, and the verdict in words. */
function wordsOf(target: TargetView): readonly [string, string] {
  switch (target.verdict) {
    case 'chosen':
    case 'fallback':
      return [target.verdict, [...costWords(target), ...stateWords(target)].join(', ')];
    case 'skipped':
      return [stateWords(target).join(', '), `skipped: ${target.why}`];
    case 'filtered':
      return [`filtered: ${FILTERS[target.why] ?? target.why}`, ''];
  }
}

const FILTERS: Readonly<Record<string, string>> = {
  tools: 'no tools',
  images: 'no images',
  audio: 'no audio',
  files: 'no files',
  server_tools: 'no server tools',
  issuer: 'files of another issuer',
  format: 'another format',
  tag: 'lacks a required tag',
  price: 'no price',
};

function costWords({ verdict, why, estimate_nano_usd, cache, cold_cache_nano_usd, strips }: TargetView): string[] {
  return [
    ...(verdict === 'chosen' ? [`by ${why}`] : []),
    ...(estimate_nano_usd === null ? [] : [`est. ${dollars(estimate_nano_usd)}`]),
    ...(cache === 'warm'
      ? ['cache warm']
      : cold_cache_nano_usd === '0'
        ? []
        : [`cache cold (+${dollars(cold_cache_nano_usd)})`]),
    ...(strips === null ? [] : [`thinking of ${strips} stripped`]),
  ];
}

function stateWords({ state, until, faults, outcomes, last_failure }: TargetView): string[] {
  if (state === 'closed' && until === null) return [];
  const word = state === 'out' ? 'out of rotation' : state.replace('_', '-');
  const end = until === null ? '' : ` until ${until.slice(11, 19)}`;
  const count = faults === 0 ? null : `${faults} of ${outcomes} faults`;
  const reason = [count, last_failure].filter((each) => each !== null).join(': ');
  return [`${state === 'closed' ? 'paused' : word}${end}${reason === '' ? '' : ` (${reason})`}`];
}

/** `41k`. */
function shortCount(count: number): string {
  return count < 1_000 ? String(count) : `${Math.round(count / 1_000)}k`;
}

/** At least two decimal places, and as many as show the first digit. */
function dollars(nanoUsd: string): string {
  const [whole = '0', fraction = ''] = formatNanoUsd(BigInt(nanoUsd)).split('.');
  const places = whole === '0' ? Math.max(2, fraction.search(/[1-9]/) + 2) : 2;
  return `$${whole}.${fraction.padEnd(places, '0').slice(0, places)}`;
}
