import type { TargetedEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ChatTurn } from './chat-turn.ts';

/** Distances from the end below this count as being at the end, in pixels. */
const END_TOLERANCE = 80;
/** The same as in chat.css. */
const NARROW_LAYOUT = '(max-width: 60rem)';

/**
 * Shows a new question with its answer as it grows, until the question is at the top: then the reader scrolls. Follows
 * the end if the reader scrolls to it. The returned props belong on the element that scrolls.
 */
export function useAutoScroll(turns: readonly ChatTurn[]) {
  const ref = useRef<HTMLElement>(null);
  const followed = useRef<'question' | 'end' | null>('question');
  /** The position that this hook has set, to recognize the reader's scrolling. */
  const position = useRef(0);

  function onScroll({ currentTarget }: TargetedEvent<HTMLElement>): void {
    const { scrollHeight, scrollTop, clientHeight } = currentTarget;
    if (Math.abs(scrollTop - position.current) < 2) return;
    followed.current = scrollHeight - scrollTop - clientHeight < END_TOLERANCE ? 'end' : null;
  }
  function scroll(): void {
    const main = ref.current;
    if (main === null || followed.current === null) return;
    if (followed.current === 'end') main.scrollTop = main.scrollHeight;
    else main.querySelector('.turn:last-of-type .question')?.scrollIntoView();
    position.current = main.scrollTop;
  }

  useLayoutEffect(() => {
    followed.current = 'question';
    scroll();
  }, [turns.length]);
  useLayoutEffect(scroll, [turns.at(-1)]);
  return { ref, onScroll };
}

/** Whether the layout has a single column. */
export function useNarrowLayout(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW_LAYOUT).matches);
  useEffect(() => {
    const query = matchMedia(NARROW_LAYOUT);
    const onChange = () => setNarrow(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}
