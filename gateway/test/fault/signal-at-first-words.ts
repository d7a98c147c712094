/** Sends the process a signal at its first words. Preloaded; `TOLLGATE_TEST_SIGNAL` names the signal. */
const signal = process.env.TOLLGATE_TEST_SIGNAL;
const write = process.stdout.write.bind(process.stdout) as (text: string) => boolean;

process.stdout.write = (text: Uint8Array | string) => {
  process.stdout.write = write as typeof process.stdout.write;
  const isFlushed = write(String(text));
  // Without a handler it ends the process here.
  if (signal !== undefined) process.kill(process.pid, signal);
  return isFlushed;
};
