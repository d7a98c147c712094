/** The writer thread: owns the only connection that writes. */
import { serveWriter } from './serve-writer.ts';

declare const self: Worker;

serveWriter(self, () => undefined);
