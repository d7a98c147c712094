/** Keeps the playground's prompt while the console is open, and over a reload of the tab. */
import { useState } from 'react';
import { KEPT_CHARS_MAX, keepInTab, keptInTab } from '../../lib/tab-memory.ts';
import { EMPTY_PROMPT, type Prompt } from './body/call-body.ts';

const NAME = 'playground';

interface Kept {
  /** The user and the account that the prompt belongs to. */
  readonly owner: string;
  readonly prompt: Prompt;
}

let current: Kept | null = null;

export function useKeptPrompt(owner: string): readonly [Prompt, (prompt: Prompt) => void] {
  const [prompt, setPrompt] = useState(() => load(owner));
  return [
    prompt,
    (next) => {
      current = { owner, prompt: next };
      keepInTab(NAME, () => (current === null ? null : JSON.stringify(current)));
      setPrompt(next);
    },
  ];
}

/** Whether a reload loses the prompt, because it is too long to be kept. */
export function isTooLongToKeep({ user, system, tools, images, exchanges, base }: Prompt): boolean {
  const imageChars = [...images, ...exchanges.flatMap((exchange) => exchange.images)].map(({ url }) => url.length);
  const texts = [user, system, tools, base?.text ?? '', ...exchanges.flatMap((one) => [one.user, one.answer])];
  const chars = [...imageChars, ...texts.map((text) => text.length)].reduce((sum, length) => sum + length, 0);
  // JSON escapes quotes and line breaks.
  return chars * 1.2 > KEPT_CHARS_MAX;
}

function load(owner: string): Prompt {
  current ??= parse(keptInTab(NAME));
  return current?.owner === owner ? current.prompt : EMPTY_PROMPT;
}

function parse(text: string | null): Kept | null {
  if (text === null) return null;
  try {
    const { owner, prompt } = JSON.parse(text) as Kept;
    // An older version of the console may have stored other members.
    return { owner, prompt: { ...EMPTY_PROMPT, ...prompt } };
  } catch {
    return null;
  }
}
