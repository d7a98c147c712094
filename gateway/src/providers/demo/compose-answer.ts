/** Owns the demo model's decision what to say to a prompt: tool calls, JSON, or plain words. Knows no wire format. */
import { chooseTools } from './choose-tools.ts';
import { composeText, composeThinking } from './compose-text.ts';
import { excerptText } from './excerpt.ts';
import { type Draft, limitAnswer } from './limit-answer.ts';
import type { Answer, Prompt, Tool, ToolCall } from './prompt.ts';
import { synthesizeArguments, synthesizeJson } from './schema/synthesize-json.ts';

/** The answer, within the prompt's stops and token limit. `choice` varies the words, for more than one answer. */
export function composeAnswer(prompt: Prompt, choice: number): Answer {
  const tools = chooseTools(prompt);
  const draft: Draft = {
    thinking: prompt.thinking === 'none' ? null : composeThinking(prompt, tools),
    ...(tools.length > 0
      ? { text: '', calls: tools.map((tool) => makeCall(tool, prompt)) }
      : { text: prompt.format === null ? composeText(prompt, choice) : composeJson(prompt, prompt.format), calls: [] }),
  };
  return limitAnswer(draft, prompt);
}

function makeCall(tool: Tool, prompt: Prompt): ToolCall {
  const { name, input } = tool;
  if (input === 'free') return { name, input, arguments: excerptText(prompt.lastUserText, 400) };
  return { name, input, arguments: JSON.stringify(synthesizeArguments(tool.schema, prompt.lastUserText, tool.path)) };
}

function composeJson(prompt: Prompt, format: NonNullable<Prompt['format']>): string {
  if (format.schema === null) {
    return JSON.stringify({
      model: "Tollgate's built-in demo model",
      you_wrote: excerptText(prompt.lastUserText, 120),
    });
  }
  return JSON.stringify(
    synthesizeJson(format.schema, { text: prompt.lastUserText, purpose: 'answer', path: format.path }),
  );
}
