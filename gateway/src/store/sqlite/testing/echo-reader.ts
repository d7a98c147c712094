/** Runs a thread that echoes its queries, and dies on `exit` or `throw`. For tests. */
declare const self: Worker;

self.onmessage = ({ data: question }: MessageEvent<string>) => {
  if (question === 'exit') process.exit(1);
  if (question === 'throw') throw new Error('the reader broke');
  self.postMessage(question);
};
