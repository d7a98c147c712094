/** Owns writing an assistant's turn as one message: text, refusal, calls, and reasoning where the host wants it back. */
import type { Part, ToolCallPart } from '../../generation/part.ts';
import type { Turn } from '../../generation/request.ts';
import { refuseMember } from '../translation-notes.ts';
import { unpackHostData } from './host-data.ts';
import { type Draft, dropMark, markPart, type RenderContext, upstreamId, upstreamName } from './render-context.ts';
import { joinTexts } from './render-result.ts';

/** Throws CallFailure for a part that an assistant cannot have. */
export function renderAssistant(turn: Turn, context: RenderContext): Draft {
  const { chat } = context.traits;
  const spoken: Draft[] = [];
  const calls: Draft[] = [];
  let data: Draft = {};
  const thoughts: string[] = [];
  const refusals: string[] = [];
  // What stands in for another format's part has a line of its own.
  let gap = '';
  for (const part of turn.parts) {
    switch (part.kind) {
      case 'text':
        spoken.push(markPart({ type: 'text', text: `${gap}${part.text}` }, part.cache_mark, context));
        gap = '';
        break;
      case 'opaque':
        if (part.words === null) break;
        spoken.push({ type: 'text', text: spoken.length === 0 ? part.words : `\n${part.words}` });
        gap = '\n';
        break;
      case 'tool_call':
        calls.push(renderCall(part, context));
        data = joinData(data, part);
        break;
      case 'reasoning':
        if (!part.redacted && part.text !== '') thoughts.push(part.text);
        break;
      case 'refusal':
        if (chat.openaiMembers) refusals.push(part.text);
        else spoken.push({ type: 'text', text: part.text });
        break;
      default:
        throw misplaced(part, turn.path);
    }
  }
  const isSilent = spoken.length === 0 && calls.length > 0;
  const message: Draft = { role: 'assistant', content: isSilent && chat.nullContent ? null : joinTexts(spoken, '') };
  if (turn.name !== null) message.name = turn.name;
  if (refusals.length > 0) message.refusal = refusals.join('');
  if (chat.reasoningInHistory !== null && thoughts.length > 0) message[chat.reasoningInHistory] = thoughts.join('\n\n');
  if (calls.length > 0) message.tool_calls = calls;
  return { ...message, ...data };
}

/** Arguments go as the model wrote them, digit by digit; a call without any has the empty object (vector 2). */
function renderCall(call: ToolCallPart, context: RenderContext): Draft {
  dropMark(call.cache_mark, context);
  const id = upstreamId(call.id, context);
  const name = upstreamName(call.name, context);
  const data = unpackHostData(call.host_data)?.call as Draft | null | undefined;
  if (call.tool === 'custom') return { id, type: 'custom', custom: { name, input: call.arguments }, ...data };
  const called = { name, arguments: call.arguments === '' ? '{}' : call.arguments };
  return { id, type: 'function', function: called, ...data };
}

/** Data on the message; of messages that became one, the details of all. */
function joinData(before: Draft, { host_data }: ToolCallPart): Draft {
  const data = unpackHostData(host_data)?.message as Draft | null | undefined;
  if (data === null || data === undefined) return before;
  const [earlier, later] = [before.reasoning_details, data.reasoning_details];
  const details = Array.isArray(earlier) && Array.isArray(later) ? { reasoning_details: [...earlier, ...later] } : {};
  return { ...before, ...data, ...details };
}

function misplaced(part: Part, path: string) {
  return refuseMember(
    path,
    `holds a part (${part.kind}) that an assistant's message cannot have here; move it to a user's`,
  );
}
