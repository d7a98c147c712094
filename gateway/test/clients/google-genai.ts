/** Sends requests as Google's own client for Gemini does. */
import { GoogleGenAI } from '@google/genai';

interface Body {
  readonly contents: object[];
  readonly systemInstruction?: object;
  readonly tools?: object[];
  readonly toolConfig?: object;
  readonly generationConfig?: object;
  readonly serviceTier?: string;
}

/** Has the client send the request of a body; its members are those of the client's own types. */
export async function sendWithGoogle(baseUrl: string, model: string, body: Body): Promise<void> {
  const client = new GoogleGenAI({ apiKey: 'none', apiVersion: 'v1beta', httpOptions: { baseUrl } });
  const { contents, generationConfig, ...rest } = body;
  await client.models.generateContent({ model, contents, config: { ...generationConfig, ...rest } as object });
}
