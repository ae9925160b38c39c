/** The seconds that a `Retry-After` header asks to wait, given as a number or as a date. */
export function retryAfterOf(
  headers: { get(name: string): string | null },
  now = Date.now(),
): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const until = Date.parse(value);
  return Number.isNaN(until) ? undefined : Math.max(0, Math.ceil((until - now) / 1000));
}
