/** Runs the writer thread, which has the only connection that writes. */
import { serveWriter } from './serve-writer.ts';

declare const self: Worker;

serveWriter(self, () => undefined);
