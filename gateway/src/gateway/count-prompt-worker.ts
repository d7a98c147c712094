/** The thread that counts the prompts of sampled calls: one after the other, answered in order. */
import { countPrompt, type PromptToCount } from './count-prompt.ts';

declare const self: Worker;

self.onmessage = ({ data: prompt }: MessageEvent<PromptToCount>) => self.postMessage(countPrompt(prompt));
