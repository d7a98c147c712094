/** Runs the conformance suite on recorded messages, with their exceptions. */
import { conformanceSuite } from './conformance-suite.ts';

conformanceSuite('anthropic-messages', {
  corpus: { recordingsMin: 90, refusedHere: {}, goOnAfterEnd: ['corpus-messages/stream-of-two-messages'] },
  recordings: {
    recordingsMin: 216,
    refusedHere: {},
    // Their recorder joined the streams of two calls into one body: the second message belongs to another call.
    goOnAfterEnd: ['anthropic-messages/0164', 'anthropic-messages/0233', 'anthropic-messages/0246'],
  },
});
