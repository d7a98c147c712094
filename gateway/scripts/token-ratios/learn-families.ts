/**
 * Chooses the prompts that each family's ratios are fitted to, and adds a margin if there are too few. Reads and prints
 * nothing.
 */
import { FRAMES } from '../../src/tokens/measure-request.ts';
import { TOKEN_FAMILIES, type TokenFamily, type TokenRatios } from '../../src/tokens/token-families.ts';
import type { PromptHalves } from '../../test/conformance/prompts/prompt-halves.ts';
import type { RecordedPrompt } from '../../test/conformance/prompts/recorded-prompts.ts';
import { fitRatios } from './fit-ratios.ts';
import { priorOf } from './priors.ts';

/** With fewer prompts, a family uses those of all models with published weights that many providers serve. */
const OWN_PROMPTS_MIN = 5;
const POOL: readonly TokenFamily[] = ['mistral', 'llama', 'qwen', 'deepseek', 'glm', 'kimi', 'grok', 'other'];
/** The minimum size of a prompt that represents large ones. */
const LARGE_TOKENS_MIN = 200;
const LARGE_PROMPTS_MIN = 3;
/** Factor for a family fitted to fewer large prompts than that: an overestimate is better than an underestimate. */
const MARGIN = 1.2;
/** 1.0 to 1.35 times as many tokens, by content: https://platform.claude.com/docs/en/about-claude/models/migration-guide (April 2026). */
const NEW_CLAUDE_TEXT = 1.35;

export interface LearntFamily {
  readonly family: TokenFamily;
  readonly ratios: TokenRatios;
  /** Whose prompts were used, and how many. */
  readonly source: string;
}

/** Every family's ratios, from the learning halves alone. */
export function learnFamilies(halves: ReadonlyMap<TokenFamily, PromptHalves>): LearntFamily[] {
  const learntOf = (family: TokenFamily) => halves.get(family)?.learnt ?? [];
  return TOKEN_FAMILIES.map((family) => {
    if (family === 'claude_5') return learnNewClaude(learntOf('claude'));
    const own = learntOf(family);
    const isOwn = own.length >= OWN_PROMPTS_MIN;
    const prompts = isOwn ? own : POOL.flatMap(learntOf);
    const ratios = rounded(fitRatios(prompts, priorOf(family)), isOwn && isEnough(own) ? 1 : MARGIN);
    return { family, ratios, source: `${prompts.length} prompts of ${isOwn ? 'its own' : 'the pool'}` };
  });
}

function isEnough(prompts: readonly RecordedPrompt[]): boolean {
  return prompts.filter(({ promptTokens }) => promptTokens >= LARGE_TOKENS_MIN).length >= LARGE_PROMPTS_MIN;
}

function learnNewClaude(prompts: readonly RecordedPrompt[]): LearntFamily {
  const { tools, text, frames } = fitRatios(prompts, priorOf('claude'));
  const ratios = rounded(
    { tools, text: text.map((weight) => weight * NEW_CLAUDE_TEXT), frames: frames.map(scaleTemplate) },
    1,
  );
  return { family: 'claude_5', ratios, source: `${prompts.length} prompts of claude` };
}

/** The vendor's own template around a prompt is text too. */
function scaleTemplate(tokens: number, frame: number): number {
  return FRAMES[frame] === 'turn' ? tokens : tokens * NEW_CLAUDE_TEXT;
}

function rounded({ tools, text, frames }: TokenRatios, margin: number): TokenRatios {
  return {
    tools,
    text: text.map((weight) => Math.round(weight * margin * 100) / 100),
    frames: frames.map((tokens) => Math.round(tokens * margin * 10) / 10),
  };
}
