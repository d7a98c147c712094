/** Tests the Vercel AI SDK through the gateway, with each of its providers for one of our formats. */
import { clientSuite } from './client-suite.ts';

clientSuite('ai-sdk', 'openai', 'chat-completions');
clientSuite('ai-sdk', 'openaiCompatible', 'chat-completions');
clientSuite('ai-sdk', 'anthropic', 'messages');
clientSuite('ai-sdk', 'openaiResponses', 'responses');
