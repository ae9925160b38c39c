import type { TargetedEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ChatTurn } from './chat-turn.ts';

/** Distances from the end below this count as being at the end, in pixels. */
const END_TOLERANCE = 80;
/** The same as in chat.css. */
const NARROW_LAYOUT = '(max-width: 60rem)';

/**
 * Keeps the end of the conversation in view until the user scrolls up. The returned props belong on the element
 * that scrolls.
 */
export function useAutoScroll(turns: readonly ChatTurn[]) {
  const ref = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);

  function onScroll({ currentTarget }: TargetedEvent<HTMLElement>): void {
    const { scrollHeight, scrollTop, clientHeight } = currentTarget;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_TOLERANCE;
  }
  function scrollToEnd(): void {
    if (ref.current !== null) ref.current.scrollTop = ref.current.scrollHeight;
  }

  // A new question always scrolls into view.
  useLayoutEffect(() => {
    isAtEnd.current = true;
    scrollToEnd();
  }, [turns.length]);
  useLayoutEffect(() => {
    if (isAtEnd.current) scrollToEnd();
  }, [turns.at(-1)]);
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
