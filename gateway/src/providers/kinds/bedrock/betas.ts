/**
 * Chooses the betas of a messages request that Bedrock gets: one that it does not know fails the whole request. Sources:
 * probes of the live service in August 2026 (envoyproxy/ai-gateway#2512), anthropics/claude-code#49370.
 */
import type { DoorName } from './models.ts';

/** Accepted by the runtime service; some only by some models, which a refusal shows. */
const AT_RUNTIME: ReadonlySet<string> = new Set([
  'claude-code-20250219',
  'compact-2026-01-12',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dev-full-thinking-2025-05-14',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'mcp-client-2025-04-04',
  'mcp-client-2025-11-20',
  'model-context-window-exceeded-2025-08-26',
  'output-128k-2025-02-19',
  'pdfs-2024-09-25',
  'search-results-2025-06-09',
  'structured-outputs-2025-12-15',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
  'tool-search-tool-2025-10-19',
  'web-search-2025-03-05',
]);

/** Never accepted, by the beginnings of their names; Mantle may know more than the list above. */
const NOWHERE = ['oauth-', 'prompt-caching-', 'fast-mode-', 'redact-thinking-', 'extended-cache-ttl-', 'files-api-'];

/** The names under which Bedrock has the same. */
const RENAMED: ReadonlyMap<string, string> = new Map([['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19']]);

export interface ChosenBetas {
  readonly sent: readonly string[];
  /** As the client named them. */
  readonly dropped: readonly string[];
}

/** `betas`: as the client named them. `takesAny` false: the model refused betas, so it gets none. */
export function chooseBetas(betas: readonly string[], door: DoorName, takesAny: boolean): ChosenBetas {
  const sent = new Set<string>();
  const dropped: string[] = [];
  for (const beta of betas) {
    const name = RENAMED.get(beta) ?? beta;
    const isKnown = door === 'runtime' ? AT_RUNTIME.has(name) : !NOWHERE.some((start) => name.startsWith(start));
    if (takesAny && isKnown) sent.add(name);
    else dropped.push(beta);
  }
  return { sent: [...sent], dropped };
}
