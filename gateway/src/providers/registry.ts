/** Lists the kinds of providers. */
import { anthropic, anthropicCompatible } from './anthropic.ts';
import { azure } from './azure.ts';
import { bedrock } from './bedrock.ts';
import { anthropicAws, anthropicGoogle } from './claude-platform.ts';
import { databricks } from './databricks.ts';
import { demo } from './demo.ts';
import { gemini } from './gemini.ts';
import { openai } from './openai.ts';
import { cohere, openaiCompatible } from './openai-compatible.ts';
import type { ProviderKind } from './provider.ts';
import { vertex } from './vertex.ts';

export const KINDS: readonly ProviderKind[] = [
  openai,
  openaiCompatible,
  anthropic,
  anthropicCompatible,
  anthropicAws,
  anthropicGoogle,
  gemini,
  vertex,
  azure,
  bedrock,
  cohere,
  databricks,
  demo,
];

/** The kind of that name, or undefined. */
export function findKind(name: string): ProviderKind | undefined {
  return KINDS.find((kind) => kind.name === name);
}
