/** Owns the whole answer of a messages provider, not streamed. */
import {
  type AnswerBlock,
  answerBlocks,
  type MessagesTurn,
  messageEnd,
  messageHead,
  messageUsage,
} from './messages-turn.ts';

export function renderMessagesResponse(turn: MessagesTurn): object {
  return {
    ...messageHead(turn),
    content: answerBlocks(turn).map(renderBlock),
    ...messageEnd(turn),
    diagnostics: null,
    usage: messageUsage(turn, turn.answer.outputTokens),
  };
}

function renderBlock(block: AnswerBlock): object {
  if (block.type !== 'tool_use') return block;
  return { ...block, input: JSON.parse(block.input), caller: { type: 'direct' } };
}
