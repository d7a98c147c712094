/** Lists the snippets in display order, agents first. */
import { claudeCode, codex, openCode } from './agents.ts';
import {
  aiSdk,
  anthropicPython,
  anthropicTypeScript,
  curl,
  langChain,
  openAiPython,
  openAiTypeScript,
} from './libraries.ts';
import type { Snippet } from './snippet.ts';

export const SNIPPETS: readonly Snippet[] = [
  claudeCode,
  codex,
  openCode,
  curl,
  openAiTypeScript,
  openAiPython,
  anthropicTypeScript,
  anthropicPython,
  aiSdk,
  langChain,
];
