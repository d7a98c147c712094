/** Shows a request as code to copy. */
import { useState } from 'react';
import { useSession } from '../../../lib/session.ts';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Segmented } from '../../../ui/field.tsx';
import type { Protocol } from '../answer/answer.ts';
import { asCode, type Language } from './as-code.ts';
import type { Members } from './call-body.ts';

interface CodeDialogProps {
  readonly protocol: Protocol;
  readonly body: Members;
  readonly onClose: () => void;
}

export default function CodeDialog({ protocol, body, onClose }: CodeDialogProps) {
  const [language, setLanguage] = useState<Language>('curl');
  const session = useSession();
  return (
    <Dialog
      wide
      title="Request as code"
      lead="The API key is read from the environment variable TOLLGATE_KEY."
      onClose={onClose}
    >
      <div className="flex flex-col gap-3">
        <Segmented<Language>
          label="Language"
          value={language}
          choices={[
            ['curl', 'curl'],
            ['python', 'Python'],
            ['typescript', 'TypeScript'],
          ]}
          onChoose={setLanguage}
        />
        <CodeBlock what="code" text={asCode(language, protocol, session.data?.public_url ?? location.origin, body)} />
      </div>
    </Dialog>
  );
}
