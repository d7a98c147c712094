/** Runs the conformance suite on recorded chat completions, with their exceptions. */
import { conformanceSuite } from './conformance-suite.ts';

conformanceSuite('openai-chat', {
  corpus: {
    recordingsMin: 90,
    refusedHere: { 'corpus-chat/content-that-is-an-object': 'messages.0.content' },
    goOnAfterEnd: [],
  },
  recordings: {
    recordingsMin: 449,
    // The provider refused it too (422): the content of a message was an object.
    refusedHere: { 'openai-chat/0128': 'messages.0.content' },
    goOnAfterEnd: [],
  },
});
