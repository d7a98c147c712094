/**
 * Writes a transcription in one piece as the events of a stream: OpenAI ignores `stream` for `whisper-1`
 * (platform.openai.com/docs/api-reference/audio/createTranscription, 2026-11).
 */
import { asText, parseObject } from '../../json.ts';
import type { RequestFacts } from '../../request/request-facts.ts';

/** The records; null: the body is not a transcription. */
export function streamOfAnswer(body: Buffer, _: Pick<RequestFacts, 'below'>, isText: boolean): Buffer | null {
  const answer = isText ? { text: body.toString() } : parseObject(body.toString());
  const delta = asText(answer?.text);
  if (delta === null) return null;
  const events = [
    { type: 'transcript.text.delta', delta },
    { ...answer, type: 'transcript.text.done' },
  ];
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
}
