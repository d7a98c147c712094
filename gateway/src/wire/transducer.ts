/** Owns the shape of every stream machine: synchronous, so that it can be tested at every split of its input. */

/** Takes input in pieces and gives output as soon as it is certain. `finish` says that no more comes and gives what is left. */
export interface Transducer<Input, Output> {
  push(input: Input): Output[];
  finish(): Output[];
}
