/** The Vercel AI SDK through the gateway, with each of its providers that speaks a format of ours. */
import { clientSuite } from './client-suite.ts';

clientSuite('ai-sdk', 'openai', 'chat-completions');
clientSuite('ai-sdk', 'openaiCompatible', 'chat-completions');
clientSuite('ai-sdk', 'anthropic', 'messages');
