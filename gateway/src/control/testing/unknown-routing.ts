/** Provides the routing of a process that knows no configuration, for tests of other commands. */
import { createMemoryProviders } from '../../store/testing/memory-providers.ts';
import type { RoutingContext } from '../command.ts';

export const UNKNOWN_ROUTING: RoutingContext = {
  book: createMemoryProviders(),
  served: () => null,
  seal: () => {
    throw new Error('this test seals no credential');
  },
  probe: () => {
    throw new Error('this test probes no provider');
  },
  live: null,
};
