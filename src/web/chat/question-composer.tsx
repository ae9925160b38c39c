import { useEffect, useRef, useState } from 'preact/hooks';

interface ComposerProps {
  isRunning: boolean;
  onAsk: (question: string) => void;
  onStop: () => void;
}

/** Has the question that is being answered, so that a reload does not lose it. */
const QUESTION_KEY = 'citeloop.question';

/** Enter sends the question, Shift+Enter starts a new line. */
export function QuestionComposer({ isRunning, onAsk, onStop }: ComposerProps) {
  const [text, setText] = useState(() => sessionStorage.getItem(QUESTION_KEY) ?? '');
  const field = useRef<HTMLTextAreaElement>(null);

  // On touch devices the focus would open an on-screen keyboard over the page.
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);
  useEffect(() => {
    if (!isRunning) sessionStorage.removeItem(QUESTION_KEY);
  }, [isRunning]);

  function send(): void {
    const question = text.trim();
    if (question === '' || isRunning) return;
    sessionStorage.setItem(QUESTION_KEY, question);
    onAsk(question);
    setText('');
    field.current?.focus();
  }

  return (
    <form
      aria-label="Question"
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
