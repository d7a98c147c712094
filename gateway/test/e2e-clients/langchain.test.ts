/** Tests LangChain's chat models through the gateway. */
import { clientSuite } from './client-suite.ts';

clientSuite('langchain', 'ChatOpenAI', 'chat-completions');
clientSuite('langchain', 'ChatAnthropic', 'messages');
