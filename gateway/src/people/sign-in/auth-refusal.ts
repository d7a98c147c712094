/** Distinguishes refusals by the sign-in library from internal errors. */

/** The library's result, or `refused`; other errors are rethrown after `withdraw`. */
export async function orRefusal<Reply>(ask: () => Promise<Reply>, withdraw: () => void): Promise<Reply | 'refused'> {
  try {
    return await ask();
  } catch (fault) {
    if (isRefusal(fault)) return 'refused';
    withdraw();
    throw fault;
  }
}

/** Checked by shape: importing the library's class would load the whole library at every start. */
function isRefusal(fault: unknown): boolean {
  return fault instanceof Error && fault.name === 'APIError' && 'statusCode' in fault && Number(fault.statusCode) < 500;
}
