/** Owns the subject without a gateway: an upstream of the bench's own kind, called directly. What others add is told against it. */
import { fileURLToPath } from 'node:url';
import { startGroup } from '../process/start-group.ts';
import { START_TIMEOUT_MS, type Subject, SubjectUnavailable } from './subject.ts';

const SCRIPT = fileURLToPath(new URL('../upstream/main.ts', import.meta.url));

export const direct: Subject = {
  name: 'direct',
  title: 'upstream, directly',
  protocol: 'chat',
  // It answers what it does not know with a refusal, at once.
  probePath: '/healthz',
  async start() {
    const group = startGroup({ command: [process.execPath, SCRIPT, '0'] });
    try {
      const [, port] = await group.waitForOutput(/listening (\d+)/, START_TIMEOUT_MS);
      return { group, port: Number(port), headers: {} };
    } catch (error) {
      await group.stop();
      throw new SubjectUnavailable(`did not start: ${String(error)}`);
    }
  },
};
