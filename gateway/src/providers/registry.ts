/** Lists the kinds of providers. */
import { anthropic, anthropicCompatible } from './kinds/anthropic.ts';
import { azure } from './kinds/azure.ts';
import { bedrock } from './kinds/bedrock.ts';
import { anthropicAws, anthropicGoogle } from './kinds/claude-platform.ts';
import { databricks } from './kinds/databricks.ts';
import { demo } from './kinds/demo.ts';
import { gemini } from './kinds/gemini.ts';
import { openai } from './kinds/openai.ts';
import { cohere, openaiCompatible } from './kinds/openai-compatible.ts';
import { vertex } from './kinds/vertex.ts';
import type { ProviderKind } from './provider.ts';

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
