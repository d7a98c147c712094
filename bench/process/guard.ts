/** Kills the bench's process groups when the bench itself is killed. Runs as a separate process. */

export {};

/**
 * Reads lines `+GROUP` and `-GROUP` from standard input. End of input means that the bench is gone, for whatever
 * reason: every group that was added and not removed gets SIGKILL.
 */
const groups = new Set<number>();
const decoder = new TextDecoder();
let held = '';
for await (const bytes of Bun.stdin.stream()) {
  const lines = (held + decoder.decode(bytes, { stream: true })).split('\n');
  held = lines.pop() ?? '';
  for (const line of lines) {
    const group = Number(line.slice(1));
    if (!Number.isSafeInteger(group) || group <= 1) continue;
    if (line.startsWith('+')) groups.add(group);
    else groups.delete(group);
  }
}
for (const group of groups) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The group had already ended.
  }
}
