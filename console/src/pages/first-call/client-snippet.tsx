/** Owns the choice of a client and its snippet. */
import { useState } from 'react';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { CLIENTS, type Client, renderSnippet, type SnippetFill } from './snippets.ts';

export function ClientSnippet({ fill }: { readonly fill: SnippetFill }) {
  const [client, setClient] = useState<Client>('curl');
  return (
    <div className="flex min-w-0 flex-col items-start gap-2">
      <Segmented label="Client" value={client} choices={CLIENTS} onChoose={setClient} />
      <div className="w-full min-w-0">
        <CodeBlock text={renderSnippet(client, fill)} what="snippet" />
      </div>
    </div>
  );
}
