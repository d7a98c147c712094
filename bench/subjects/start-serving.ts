/** Starts a subject and waits until it accepts connections; reports why when it does not. */
import { waitForPort } from '../process/free-port.ts';
import { type Group, type GroupCommand, startGroup } from '../process/start-group.ts';
import { START_TIMEOUT_MS, SubjectUnavailable } from './subject.ts';

/**
 * Starts the command and resolves once 127.0.0.1:port accepts, within `timeoutMs`, and `ready` is done. Otherwise stops the group and throws
 * SubjectUnavailable with the last output.
 */
export async function startServing<Ready>(
  command: GroupCommand,
  port: number,
  ready: (group: Group) => Promise<Ready>,
  timeoutMs: number = START_TIMEOUT_MS,
): Promise<{ group: Group; ready: Ready }> {
  const group = startGroup(command);
  try {
    await waitForPort(port, timeoutMs, group.exited);
    return { group, ready: await ready(group) };
  } catch (error) {
    await group.stop();
    throw new SubjectUnavailable(`did not start: ${String(error)}\n${group.outputTail()}`);
  }
}
