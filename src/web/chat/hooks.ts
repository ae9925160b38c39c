import type { TargetedEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { TurnState } from './turn-state.ts';

/** As near to the end counts as being there. */
const NEAR = 80;
/** As in chat.css. */
const NARROW = '(max-width: 60rem)';

/**
 * Keeps the end of a growing conversation in view, until the person scrolls away from it to read. The result goes
 * onto the element that scrolls.
 */
export function useFollowing(turns: readonly TurnState[]) {
  const ref = useRef<HTMLElement>(null);
  const isFollowing = useRef(true);

  function onScroll({ currentTarget }: TargetedEvent<HTMLElement>): void {
    const { scrollHeight, scrollTop, clientHeight } = currentTarget;
    isFollowing.current = scrollHeight - scrollTop - clientHeight < NEAR;
  }
  function showEnd(): void {
    if (ref.current !== null) ref.current.scrollTop = ref.current.scrollHeight;
  }

  // A new question is always shown.
  useLayoutEffect(() => {
    isFollowing.current = true;
    showEnd();
  }, [turns.length]);
  useLayoutEffect(() => {
    if (isFollowing.current) showEnd();
  }, [turns.at(-1)]);
  return { ref, onScroll };
}

/** Whether there is room for one column only. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const onChange = () => setNarrow(query.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}
