/** Renders the filter by a reason, or by a group of requests that failed for the same one. Loaded when there is one. */
import { FilterChip } from '../../../filters/filter-chips.tsx';
import { reasonLabel } from './reason-titles.ts';

interface ReasonChipProps {
  readonly reason: string;
  readonly onRemove: () => void;
}

export default function ReasonChip({ reason, onRemove }: ReasonChipProps) {
  return <FilterChip word="Reason" label={reasonLabel(reason)} title={reason} onRemove={onRemove} />;
}
