/** Explains why the system does not read a file. Null: the fault is another one. */
export function explainReadFault(fault: unknown): string | null {
  if (!(fault instanceof Error) || !('syscall' in fault) || !('code' in fault)) return null;
  if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return 'there is no such file';
  return fault.code === 'EISDIR' ? 'found a folder, expected a file' : `the file cannot be read (${fault.code})`;
}
