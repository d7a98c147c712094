/** Renders the actions on a row of a table or list: a button with dots, and its menu. */
import { MoreHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../button.tsx';
import { Menu } from '../menu.tsx';

interface RowMenuProps {
  /** Of what the row shows. */
  readonly name: string;
  readonly children: ReactNode;
}

export function RowMenu({ name, children }: RowMenuProps) {
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${name}`} className="size-6">
          <MoreHorizontal size={15} />
        </IconButton>
      }
    >
      {children}
    </Menu>
  );
}
