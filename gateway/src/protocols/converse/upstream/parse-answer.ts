/** Parses a Converse answer in one piece into the events of the same answer streamed. Source: provider reference C.4. */
import { type GenerationEvent, usageEvent } from '../../../generation/event.ts';
import { elementTexts, memberText } from '../../exact-json.ts';
import { asArray, asObject, type JsonObject, parseObject } from '../../json.ts';
import { readUsage } from '../shared/usage.ts';
import { BlockParser, malformed, PartCounter, piecesOf } from './parse-answer-block.ts';
import { parseFinish } from './parse-stream.ts';

/** Parses the body of a 200. Ends with `end`, or is one `malformed`. */
export function parseAnswer(body: Buffer): readonly GenerationEvent[] {
  const json = body.toString();
  const answer = parseObject(json);
  if (answer === null) return malformed('an answer that is not a JSON object');
  const message = asObject(asObject(answer.output)?.message);
  if (!Array.isArray(message?.content)) return malformed('an answer without a message');
  const blocks = asArray(message.content);
  const written = memberText(memberText(memberText(json, 'output') ?? '', 'message') ?? '', 'content') ?? '';
  const events: GenerationEvent[] = [{ kind: 'start', id: null, model: null }];
  const counter = new PartCounter();
  const read: ReadBlock[] = [];
  for (const [index, text] of elementTexts(written).entries()) {
    const content = asObject(blocks[index]);
    if (content === null) return malformed('a content block that is not an object');
    read.push({ content, text });
  }
  for (const { content, text } of thoughtsFirst(read)) {
    const block = new BlockParser(counter);
    const { start, deltas } = piecesOf(content, text);
    if (start !== null) events.push(...block.begin(start, text));
    for (const delta of deltas) events.push(...block.push(delta));
    events.push(...block.end());
  }
  events.push(...parseFinish(answer));
  const usage = readUsage(answer);
  if (usage !== null) events.push(usageEvent(usage));
  events.push({ kind: 'end' });
  const fault = events.find(({ kind }) => kind === 'malformed');
  return fault === undefined ? events : [fault];
}

/** A content block, parsed and as written. */
interface ReadBlock {
  readonly content: JsonObject;
  readonly text: string;
}

/** DeepSeek's reasoning comes after the text that it led to. The order of signed reasoning is part of the signature. */
function thoughtsFirst(blocks: readonly ReadBlock[]): readonly ReadBlock[] {
  const isUnsigned = ({ content }: ReadBlock) => {
    const reasoning = asObject(asObject(content.reasoningContent)?.reasoningText);
    return reasoning !== null && reasoning.signature === undefined;
  };
  return [...blocks.filter(isUnsigned), ...blocks.filter((block) => !isUnsigned(block))];
}
