/** Makes the rows of presets, with what most of them have in common. */
import type { OutputLimitMember } from '../../protocols/request/request-facts.ts';
import { anthropicCompatible } from '../kinds/anthropic.ts';
import { openaiCompatible } from '../kinds/openai-compatible.ts';
import type { Preset } from '../provider.ts';
import { type ChatQuirks, NO_QUIRKS, type ProviderQuirks } from '../quirks.ts';

export const OLDER_LIMIT: readonly OutputLimitMember[] = ['max_tokens'];
export const BOTH_LIMITS: readonly OutputLimitMember[] = ['max_tokens', 'max_completion_tokens'];
export const ALL_LIMITS: readonly OutputLimitMember[] = [...BOTH_LIMITS, 'max_output_tokens'];

/** Seen in recorded traffic of 2026; other hosts that claim to have it break its event grammar. */
export const HAS_RESPONSES = { alsoSpeaks: ['responses'] } as const;

/** Its chat models answer legacy completions too. */
export const HAS_COMPLETIONS = { completes: true } as const;

/** A server on this machine answers a few requests at once; more only slow each other down. */
const LOCAL_CONCURRENCY = 8;

type Named = Pick<Preset, 'name' | 'title' | 'baseUrl' | 'source'> &
  Partial<Pick<Preset, 'baseUrlVariable' | 'catalogProvider' | 'provenLimits' | 'quirks'>>;

/** A host of chat completions with a bearer token from one of these variables, unless the row says otherwise. */
export function chatHost(variables: string | readonly string[], named: Named): Preset {
  return {
    kind: openaiCompatible,
    credentialVariables: typeof variables === 'string' ? [variables] : variables,
    baseUrlVariable: null,
    catalogProvider: null,
    quirks: NO_QUIRKS,
    provenLimits: [],
    maxConcurrency: null,
    ...named,
  };
}

/** A host that imitates Anthropic's messages: `/v1/messages` follows its address. */
export function messagesHost(variable: string, named: Named): Preset {
  return { ...chatHost(variable, named), kind: anthropicCompatible };
}

/** A server of models on this machine, without a credential. */
export function localServer(named: Named): Preset {
  return { ...chatHost([], named), maxConcurrency: LOCAL_CONCURRENCY };
}

/** Deviations of a chat host. */
export function chatQuirks(chat: ChatQuirks, others: Partial<ProviderQuirks> = {}): ProviderQuirks {
  return { ...NO_QUIRKS, ...others, chat };
}
