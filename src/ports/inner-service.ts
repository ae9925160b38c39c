type Fetch = typeof globalThis.fetch;

/** What is put around a service: it is given the service, and asked in its place. */
type Around = (service: Fetch) => Fetch;

let around: Around | null = null;

/**
 * A service inside this process, to be asked like one outside of it: whoever records or replays what services are asked
 * hears of it as well. Nothing of it goes through `fetch`, which others may have replaced for reasons of their own.
 */
export function innerService(service: Fetch): Fetch {
  return (...call) => (around === null ? service : around(service))(...call);
}

/** Puts something around all of them until the function that it gives back is called. */
export function putAroundServices(next: Around): () => void {
  const before = around;
  around = next;
  return () => {
    if (around === next) around = before;
  };
}
