/** Tests OpenAI's SDKs for the Responses API through the gateway: JavaScript, Python and the Agents SDK. */
import { clientSuite } from './client-suite.ts';

clientSuite('openai-sdk', 'responses', 'responses');
clientSuite('openai-python', 'responses', 'responses');
clientSuite('openai-agents', 'agents', 'responses');
