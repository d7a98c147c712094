/** Names the formats between which these suites translate the corpus. Responses has suites of its own. */
export type Format = 'chat' | 'messages';
