/** A writer thread that kills its process at a moment of its work, as `armed-reach.ts` says. For tests. */
import { serveWriter } from '../writer/serve-writer.ts';
import { armedReach } from './armed-reach.ts';

declare const self: Worker;

serveWriter(self, armedReach());
