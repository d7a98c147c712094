/** Runs a writer thread that kills its process at a point of its work, as `armed-reach.ts` describes. For tests. */
import { serveWriter } from '../writer/serve-writer.ts';
import { armedReach } from './armed-reach.ts';

declare const self: Worker;

serveWriter(self, armedReach());
