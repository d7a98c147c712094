/**
 * Renders the prompt form of the playground: system and user text, images, tools, limits; or the stored request in place
 * of these.
 */
import { ImagePlus, X } from 'lucide-react';
import { useId, useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { TextAreaField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { EMPTY_PROMPT, type Prompt, type PromptImage, promptErrors } from './body/call-body.ts';
import { BasePanel, Turns } from './conversation.tsx';
import { isTooLongToKeep } from './kept-prompt.ts';

const IMAGE_BYTES_MAX = 5 * 1024 * 1024;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

interface PromptFormProps {
  readonly prompt: Prompt;
  readonly onChange: (prompt: Prompt) => void;
  /** Errors are shown after the first attempt to send. */
  readonly wasSent: boolean;
  readonly onSend: () => void;
  readonly onRemoveBase: () => void;
}

export function PromptForm({ prompt, onChange, wasSent, onSend, onRemoveBase }: PromptFormProps) {
  const errors = wasSent ? promptErrors(prompt) : {};
  const { base, exchanges } = prompt;
  return (
    <Panel className="flex flex-col gap-3 p-4">
      {base === null ? (
        <TextAreaField
          label="System"
          rows={2}
          value={prompt.system}
          placeholder="Instructions for the model (optional)"
          onChange={(event) => onChange({ ...prompt, system: event.target.value })}
        />
      ) : (
        <BasePanel
          base={base}
          error={errors.base}
          onChange={(changed) => onChange({ ...prompt, base: changed })}
          onRemove={onRemoveBase}
        />
      )}
      <Turns
        exchanges={exchanges}
        onUndo={() => onChange(undone(prompt))}
        onReset={() => onChange(base === null ? { ...prompt, exchanges: [] } : { ...EMPTY_PROMPT, base })}
      />
      <TextAreaField
        label={base === null && exchanges.length === 0 ? 'User' : 'Next message'}
        rows={base === null ? 5 : 3}
        value={prompt.user}
        error={errors.user}
        placeholder={base !== null && exchanges.length === 0 ? 'Optional: send the request as it is, or add to it' : ''}
        hint={
          isTooLongToKeep(prompt)
            ? 'Press Ctrl+Enter or ⌘+Enter to send. Too long to keep when you reload the page.'
            : 'Press Ctrl+Enter or ⌘+Enter to send.'
        }
        onChange={(event) => onChange({ ...prompt, user: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend();
        }}
      />
      <Images images={prompt.images} onChange={(images) => onChange({ ...prompt, images })} />
      {base === null && <Parameters prompt={prompt} errors={errors} onChange={onChange} />}
    </Panel>
  );
}

/** The last message can be changed and sent again. */
function undone(prompt: Prompt): Prompt {
  const last = prompt.exchanges.at(-1);
  if (last === undefined) return prompt;
  return { ...prompt, exchanges: prompt.exchanges.slice(0, -1), user: last.user, images: last.images };
}

interface ParametersProps extends Pick<PromptFormProps, 'prompt' | 'onChange'> {
  readonly errors: ReturnType<typeof promptErrors>;
}

function Parameters({ prompt, errors, onChange }: ParametersProps) {
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="Max output tokens"
          inputMode="numeric"
          value={prompt.maxTokens}
          error={errors.maxTokens}
          onChange={(event) => onChange({ ...prompt, maxTokens: event.target.value })}
        />
        <TextField
          label="Temperature"
          inputMode="decimal"
          placeholder="Model default"
          value={prompt.temperature}
          error={errors.temperature}
          onChange={(event) => onChange({ ...prompt, temperature: event.target.value })}
        />
      </div>
      <details open={errors.tools !== undefined || undefined}>
        <summary className="font-medium">Tools</summary>
        <TextAreaField
          label="Tools (JSON)"
          className="mt-2"
          rows={6}
          spellCheck={false}
          value={prompt.tools}
          error={errors.tools}
          placeholder={'[{"name": "get_weather", "description": "…", "input_schema": {"type": "object"}}]'}
          hint="Same format for every protocol. Tool calls are shown but not executed."
          onChange={(event) => onChange({ ...prompt, tools: event.target.value })}
        />
      </details>
    </>
  );
}

interface ImagesProps {
  readonly images: readonly PromptImage[];
  readonly onChange: (images: readonly PromptImage[]) => void;
}

function Images({ images, onChange }: ImagesProps) {
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const [error, setError] = useState<string | null>(null);
  async function add(files: readonly File[]): Promise<void> {
    const wrong = files.find(({ type, size }) => !IMAGE_TYPES.includes(type) || size > IMAGE_BYTES_MAX);
    setError(
      wrong === undefined ? null : `${wrong.name} wasn’t added. Images must be PNG, JPEG, WebP or GIF, up to 5 MiB.`,
    );
    const taken = files.filter((file) => IMAGE_TYPES.includes(file.type) && file.size <= IMAGE_BYTES_MAX);
    const read = await Promise.all(taken.map(async (file) => ({ name: file.name, url: await dataUrl(file) })));
    onChange([...images, ...read]);
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        {images.map(({ name, url }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same image may appear twice
          <span key={at} className="relative">
            <img src={url} alt={name} className="size-14 rounded-md border border-line object-cover" />
            <IconButton
              label={`Remove ${name}`}
              className="absolute -top-2 -right-2 size-6! rounded-full border border-line bg-raised"
              onClick={() => onChange(images.filter((_, index) => index !== at))}
            >
              <X size={12} />
            </IconButton>
          </span>
        ))}
        <Button icon={<ImagePlus size={14} aria-hidden="true" />} onClick={() => input.current?.click()}>
          Add image
        </Button>
        <label htmlFor={id} className="sr-only">
          Images
        </label>
        <input
          ref={input}
          id={id}
          type="file"
          tabIndex={-1}
          accept={IMAGE_TYPES.join(',')}
          multiple
          className="sr-only"
          onChange={(event) => {
            void add([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
      </div>
      {error !== null && <p className="text-sm text-red">{error}</p>}
    </div>
  );
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
