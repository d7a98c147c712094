/** Renders a provider's health as a badge. */
import { Badge } from '../../ui/badge.tsx';

const STATES = {
  healthy: { tone: 'good', word: 'Healthy' },
  failing: { tone: 'bad', word: 'Failing' },
  idle: { tone: 'neutral', word: 'Idle' },
} as const;

export function HealthBadge({ state }: { readonly state: keyof typeof STATES }) {
  return <Badge tone={STATES[state].tone}>{STATES[state].word}</Badge>;
}
