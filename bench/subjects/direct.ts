/**
 * Starts the subject without a gateway: a separate upstream of the bench, called directly. Added latency of other
 * subjects is relative to it.
 */
import { fileURLToPath } from 'node:url';
import { startGroup } from '../process/start-group.ts';
import { START_TIMEOUT_MS, type Subject, SubjectUnavailable } from './subject.ts';

const SCRIPT = fileURLToPath(new URL('../upstream/main.ts', import.meta.url));

export const direct: Subject = {
  name: 'direct',
  title: 'upstream, directly',
  protocol: 'chat',
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
