/** Renders the button that saves a page's table as a file, built from the rows on the page. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { toast } from '../ui/toasts.tsx';
import type { CsvColumns } from './csv-table.ts';

interface TableDownloadProps<Row> {
  /** File name without extension. */
  readonly name: string;
  /** The filtered rows. */
  readonly rows: readonly Row[];
  /** Loaded when the button is pressed. */
  readonly columns: () => Promise<{ readonly default: CsvColumns<Row> }>;
}

export function TableDownload<Row>({ name, rows, columns }: TableDownloadProps<Row>) {
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const [{ saveTable }, loaded] = await Promise.all([import('./save-table.ts'), columns()]);
      saveTable(name, loaded.default, rows);
    } catch {
      toast({ text: 'Couldn’t create the file because the gateway can’t be reached. Try again.', tone: 'bad' });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button icon={<Download size={14} aria-hidden="true" />} busy={isBusy} onClick={() => void save()}>
      CSV
    </Button>
  );
}
