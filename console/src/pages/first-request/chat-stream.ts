/** Reads a streamed chat completion in the browser: the text as it arrives, and how the stream ended. */

/** The content of one line of the stream. */
type Said = { readonly text: string } | { readonly error: string } | 'end' | null;

export type StreamEnd = { readonly complete: true } | { readonly complete: false; readonly error: string };

/** Passes each piece of text to `onText`. A stream without `[DONE]` counts as cut. */
export async function readChatStream(
  body: ReadableStream<Uint8Array>,
  onText: (text: string) => void,
): Promise<StreamEnd> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? `${decoder.decode()}\n` : decoder.decode(value, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const said = readLine(line);
      if (said === null) continue;
      if (said !== 'end' && 'text' in said) {
        onText(said.text);
        continue;
      }
      await reader.cancel();
      return said === 'end' ? { complete: true } : { complete: false, error: said.error };
    }
    if (done) return { complete: false, error: 'the stream ended early' };
  }
}

function readLine(line: string): Said {
  if (!line.startsWith('data:')) return null;
  const text = line.slice(5).trim();
  if (text === '[DONE]') return 'end';
  const event = JSON.parse(text) as {
    error?: { message?: string };
    choices?: readonly { delta?: { content?: string | null } }[];
  };
  if (event.error !== undefined) return { error: event.error.message ?? 'the stream ended with an error' };
  const piece = event.choices?.[0]?.delta?.content ?? '';
  return piece === '' ? null : { text: piece };
}
