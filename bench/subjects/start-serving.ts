/** Owns the common end of starting a subject: wait until it accepts, and say why where it does not. */
import { waitForPort } from '../process/free-port.ts';
import { type Group, type GroupCommand, startGroup } from '../process/start-group.ts';
import { START_TIMEOUT_MS, SubjectUnavailable } from './subject.ts';

/**
 * Starts the command and resolves once 127.0.0.1:port accepts and `ready` is done.
 * Throws SubjectUnavailable with the last output, the group stopped, where that does not happen.
 */
export async function startServing<Ready>(
  command: GroupCommand,
  port: number,
  ready: (group: Group) => Promise<Ready>,
): Promise<{ group: Group; ready: Ready }> {
  const group = startGroup(command);
  try {
    await waitForPort(port, START_TIMEOUT_MS, group.exited);
    return { group, ready: await ready(group) };
  } catch (error) {
    await group.stop();
    throw new SubjectUnavailable(`did not start: ${String(error)}\n${group.outputTail()}`);
  }
}
