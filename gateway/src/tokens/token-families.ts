/**
 * Maps models to families that share a tokenizer and a prompt template, and holds the estimation weights of each
 * family. gateway/scripts/learn-token-ratios.ts computes the weights from recorded calls and prints this table; do not
 * edit it by hand.
 */
import type { ToolStyle } from './measure-request.ts';

export const TOKEN_FAMILIES = [
  'gpt',
  'gpt_oss',
  'claude_3',
  'claude',
  'claude_5',
  'gemini',
  'mistral',
  'llama',
  'qwen',
  'deepseek',
  'glm',
  'kimi',
  'grok',
  'other',
] as const;
export type TokenFamily = (typeof TOKEN_FAMILIES)[number];

/** Tokens per feature, in the order of `TEXT_FEATURES`, and per frame, in the order of `FRAMES`. */
export interface TokenRatios {
  readonly tools: ToolStyle;
  readonly text: readonly number[];
  readonly frames: readonly number[];
}

/** The first pattern that matches the lowercase name wins. `claude_5`: the tokenizer introduced with Claude 4.7. */
const NAMES: ReadonlyArray<readonly [RegExp, TokenFamily]> = [
  [/gpt-?oss/, 'gpt_oss'],
  [/claude.*(4[-.][789]|[a-z]-5|fable|mythos)|claude-[5-9](?!\d)/, 'claude_5'],
  [/claude-?(v?2|instant|3|v3)/, 'claude_3'],
  [/claude/, 'claude'],
  [/deepseek/, 'deepseek'],
  [/qwen|qwq|qvq/, 'qwen'],
  [/llama/, 'llama'],
  [/gemini|gemma|learnlm/, 'gemini'],
  [/mi[sx]tral|pixtral|voxtral|magistral|codestral|devstral|ministral/, 'mistral'],
  [/glm/, 'glm'],
  [/kimi|moonshot/, 'kimi'],
  [/grok/, 'grok'],
  [/gpt|(^|[^a-z0-9])o[134](?![0-9a-z])|davinci|codex/, 'gpt'],
];

/** The family of a model by its upstream name; `other` for an unrecognized name. */
export function familyOf(model: string): TokenFamily {
  const name = model.toLowerCase();
  return NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}

export const TOKEN_RATIOS: { readonly [family in TokenFamily]: TokenRatios } = {
  // From 33 prompts of its own.
  gpt: {
    tools: 'declarations',
    text: [
      0.33, 0.72, 0.72, 1.18, 0.12, 0.65, 0.03, 0.07, 0.82, 0.02, 0.64, 0.17, 1.26, 2.21, 0, 0.76, 0.09, 0.09, 0.15,
      0.77, 0.93, 0.37, 0.42, 0.42, 0.6, 0.61, 0.78, 1.69, 2.2, 1,
    ],
    frames: [5.9, 1.3, 15.2, 0.3, 0.4, 9.9, 6, 1.6, 1.2],
  },
  // From 10 prompts of its own.
  gpt_oss: {
    tools: 'declarations',
    text: [
      0.33, 0.75, 0.72, 1.2, 0.12, 0.66, 0.03, 0.07, 0.83, 0.02, 0.65, 0.17, 1.25, 2.12, 0, 0.76, 0.09, 0.09, 0.15,
      0.77, 0.93, 0.37, 0.42, 0.42, 0.6, 0.61, 0.78, 1.69, 2.2, 1,
    ],
    frames: [64.1, 3.8, 27.4, 0.3, 0.3, 11.1, 6.4, 68, 1],
  },
  // From 9 prompts of its own.
  claude_3: {
    tools: 'json',
    text: [
      0.36, 0.82, 0.78, 1.32, 0.13, 0.69, 0.03, 0.08, 0.9, 0.02, 0.71, 0.19, 1.38, 2.31, 0, 0.84, 0.1, 0.1, 0.16, 0.85,
      1.76, 0.62, 1.19, 1.45, 1.12, 1.11, 1.16, 2.2, 2.97, 1.1,
    ],
    frames: [13, 2.5, 310.1, 10.3, 2.1, 7.4, 5.1, 20, 5.7],
  },
  // From 27 prompts of its own.
  claude: {
    tools: 'json',
    text: [
      0.36, 0.82, 0.78, 1.32, 0.13, 0.7, 0.03, 0.08, 0.91, 0.02, 0.71, 0.19, 1.42, 2.43, 0, 0.84, 0.1, 0.1, 0.16, 0.85,
      1.77, 0.62, 1.19, 1.45, 1.12, 1.11, 1.16, 2.2, 2.97, 1.1,
    ],
    frames: [28.3, 5.2, 478.5, 13.1, 3.3, 17.9, 8.8, 129, 7.3],
  },
  // From 27 prompts of claude.
  claude_5: {
    tools: 'json',
    text: [
      0.48, 1.11, 1.05, 1.78, 0.18, 0.94, 0.04, 0.1, 1.22, 0.03, 0.97, 0.25, 1.92, 3.28, 0, 1.13, 0.13, 0.13, 0.22,
      1.14, 2.38, 0.83, 1.6, 1.96, 1.51, 1.5, 1.56, 2.98, 4.01, 1.48,
    ],
    frames: [38.2, 5.2, 646, 17.6, 4.4, 24.1, 11.9, 174.1, 9.8],
  },
  // From 29 prompts of its own.
  gemini: {
    tools: 'json',
    text: [
      0.37, 0.78, 0.82, 1.39, 0.14, 0.66, 0.04, 0.08, 0.99, 0.02, 0.72, 0.2, 1.33, 2.6, 1.22, 0.76, 0.1, 0.11, 0.18,
      0.93, 1.12, 0.44, 0.5, 0.5, 0.72, 0.73, 0.94, 2.04, 2.64, 1.2,
    ],
    frames: [0, 0.9, 0, 0, 1.7, 15.9, 8.6, 0, 6],
  },
  // From 18 prompts of its own.
  mistral: {
    tools: 'json',
    text: [
      0.33, 0.75, 0.71, 1.22, 0.12, 0.67, 0.03, 0.07, 0.83, 0.02, 0.65, 0.17, 1.08, 2.13, 0.99, 0.77, 0.09, 0.09, 0.15,
      0.77, 1.6, 0.56, 1.08, 1.32, 1.02, 1.01, 1.05, 1.98, 2.7, 1,
    ],
    frames: [9.1, 3.5, 0, 10.3, 1.4, 27.7, 12.4, 20, 4.7],
  },
  // From 7 prompts of its own.
  llama: {
    tools: 'json',
    text: [
      0.33, 0.74, 0.72, 1.2, 0.12, 0.66, 0.03, 0.07, 0.83, 0.02, 0.65, 0.17, 1.27, 2.12, 0, 0.76, 0.09, 0.09, 0.15,
      0.77, 1.6, 0.56, 1.08, 1.32, 1.02, 1.01, 1.05, 2, 2.7, 1,
    ],
    frames: [28.4, 4, 570.5, 6.5, 1.5, 10, 6, 20, 4],
  },
  // From 18 prompts of its own.
  qwen: {
    tools: 'json',
    text: [
      0.33, 0.74, 0.72, 1.2, 0.12, 0.64, 0.03, 0.07, 0.82, 0.02, 0.65, 0.17, 1.1, 2.11, 1, 0.76, 0.09, 0.09, 0.15, 0.77,
      0.93, 0.37, 0.42, 0.42, 0.6, 0.61, 0.78, 1.7, 2.2, 1,
    ],
    frames: [5.2, 4.8, 65.7, 7.4, 2.1, 3.4, 3.6, 85.3, 5],
  },
  // From 8 prompts of its own.
  deepseek: {
    tools: 'json',
    text: [
      0.33, 0.75, 0.72, 1.2, 0.12, 0.66, 0.03, 0.07, 0.83, 0.02, 0.65, 0.17, 1.27, 2.12, 0, 0.77, 0.09, 0.09, 0.15,
      0.77, 0.93, 0.37, 0.42, 0.42, 0.6, 0.61, 0.78, 1.7, 2.2, 1,
    ],
    frames: [1.2, 2.4, 218.7, 10.2, 2, 10.7, 6.2, 20, 5],
  },
  // From 64 prompts of the pool.
  glm: {
    tools: 'json',
    text: [
      0.39, 0.87, 0.86, 1.48, 0.14, 0.77, 0.04, 0.08, 0.98, 0.02, 0.77, 0.2, 1.42, 2.46, 0, 0.86, 0.11, 0.11, 0.18,
      0.92, 1.12, 0.44, 0.5, 0.5, 0.72, 0.73, 0.94, 2.04, 2.65, 1.2,
    ],
    frames: [8.4, 5.7, 122.4, 6.8, 0.4, 32.4, 14.5, 96.9, 2.5],
  },
  // From 64 prompts of the pool.
  kimi: {
    tools: 'json',
    text: [
      0.39, 0.87, 0.86, 1.48, 0.14, 0.77, 0.04, 0.08, 0.98, 0.02, 0.77, 0.2, 1.42, 2.46, 0, 0.86, 0.11, 0.11, 0.18,
      0.92, 1.12, 0.44, 0.5, 0.5, 0.72, 0.73, 0.94, 2.04, 2.65, 1.2,
    ],
    frames: [8.4, 5.7, 122.4, 6.8, 0.4, 32.4, 14.5, 96.9, 2.5],
  },
  // From 8 prompts of its own.
  grok: {
    tools: 'json',
    text: [
      0.33, 0.75, 0.72, 1.2, 0.12, 0.64, 0.03, 0.07, 0.83, 0.02, 0.65, 0.17, 1.28, 2.13, 0, 0.77, 0.09, 0.09, 0.15,
      0.77, 1.6, 0.56, 1.08, 1.32, 1.02, 1.01, 1.05, 2, 2.7, 1,
    ],
    frames: [38.7, 1.5, 99.1, 10.1, 2.6, 9, 5.7, 0, 5],
  },
  // From 64 prompts of the pool.
  other: {
    tools: 'json',
    text: [
      0.39, 0.87, 0.85, 1.48, 0.14, 0.77, 0.04, 0.08, 0.98, 0.02, 0.77, 0.2, 1.42, 2.46, 0, 0.86, 0.11, 0.11, 0.18,
      0.92, 1.92, 0.67, 1.3, 1.58, 1.22, 1.21, 1.26, 2.4, 3.25, 1.2,
    ],
    frames: [8.5, 5.6, 122.4, 6.8, 0.4, 32.5, 14.6, 97, 2.5],
  },
};
