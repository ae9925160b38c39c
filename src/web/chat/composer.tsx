import { useEffect, useRef, useState } from 'preact/hooks';

interface ComposerProps {
  isRunning: boolean;
  onAsk: (question: string) => void;
  onStop: () => void;
}

/** Where a question is typed: Enter sends it, Shift and Enter begins a new line. */
export function Composer({ isRunning, onAsk, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);

  // Where there is a mouse there is a keyboard, and nothing that would jump up and hide the page.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  function send(): void {
    const question = text.trim();
    if (question === '' || isRunning) return;
    onAsk(question);
    setText('');
    field.current?.focus();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="unseen" for="question">
        Your question
      </label>
      <textarea
        id="question"
        ref={field}
        rows={2}
        dir="auto"
        value={text}
        placeholder="Ask about the documents"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {isRunning ? (
        <button
          type="button"
          class="primary"
          onClick={() => {
            onStop();
            field.current?.focus();
          }}
        >
          Stop
        </button>
      ) : (
        <button type="submit" class="primary" disabled={text.trim() === ''}>
          Ask
        </button>
      )}
    </form>
  );
}
