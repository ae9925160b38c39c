/**
 * The places that documents are from, sorted, if some came from one that has nothing to do with those before; else none.
 * A place is a directory or a site: one inside another has to do with it, and so have files that lie together.
 */
export function mixedPlaces(rootsBefore: Iterable<string>, rootsNow: Iterable<string>): string[] {
  const before = new Set(Array.from(rootsBefore, placeOf));
  const now = new Set(Array.from(rootsNow, placeOf));
  const isStrange = (place: string) => [...before].every((other) => !isRelated(place, other));
  if (before.size === 0 || ![...now].some(isStrange)) return [];
  const widest = [...now].filter(
    (place) => ![...now].some((other) => other !== place && place.startsWith(other)),
  );
  return widest.length > 1 ? widest.sort() : [];
}

function placeOf(root: string): string {
  return new URL('.', root).href;
}

function isRelated(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}
