/** Tells a refusal of the library behind sign-in from a fault of ours. */

/** What the library answers, or `refused` where it says no; another fault goes on, after `withdraw`. */
export async function orRefusal<Reply>(ask: () => Promise<Reply>, withdraw: () => void): Promise<Reply | 'refused'> {
  try {
    return await ask();
  } catch (fault) {
    if (isRefusal(fault)) return 'refused';
    withdraw();
    throw fault;
  }
}

/** By its look: the library's class would bring the whole library along at every start. */
function isRefusal(fault: unknown): boolean {
  return fault instanceof Error && fault.name === 'APIError' && 'statusCode' in fault && Number(fault.statusCode) < 500;
}
