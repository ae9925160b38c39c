/** With this chance a difference as large as the one seen would be proven. */
const POWER = 0.8;

/** The value above which a standard normal one lies with this chance, to three digits (Abramowitz and Stegun, 26.2.23). */
export function normalQuantile(above: number): number {
  if (above > 0.5) return -normalQuantile(1 - above);
  const t = Math.sqrt(-2 * Math.log(above));
  const [over, under] = [
    2.515517 + t * (0.802853 + t * 0.010328),
    1 + t * (1.432788 + t * (0.189269 + t * 0.001308)),
  ];
  return t - over / under;
}

interface Undecided {
  /** Cases that there are. */
  n: number;
  difference: number;
  /** The share of the cases on which the arms differ. */
  differing: number;
  /** The standard deviation of the difference of a case. */
  spread: number;
  /** Differences below this matter to nobody. */
  margin: number;
  /** The error that a proof of the difference may have after correction, and a proof of equivalence. */
  alpha: number;
  equivalenceAlpha: number;
}

/**
 * About how many more cases like these would decide it: prove the difference that was seen, or, if that takes fewer,
 * prove that it is within the margin. Null where no number would.
 */
export function casesToDecide({
  n,
  difference,
  differing,
  spread,
  margin,
  alpha,
  equivalenceAlpha,
}: Undecided): number | null {
  const size = Math.abs(difference);
  const [toProve, toExclude] = [normalQuantile(alpha / 2), normalQuantile(equivalenceAlpha)];
  const beta = normalQuantile(1 - POWER);
  // A sign test needs so many cases that differ, however much they agree.
  const least = Math.ceil(1 - Math.log2(alpha)) / Math.max(differing, 1e-9);
  const forDifference =
    size > 0 ? Math.max(least, ((toProve * Math.hypot(spread, size) + beta * spread) / size) ** 2) : Infinity;
  const room = margin - size;
  const forEquivalence =
    room > 0
      ? Math.max(
          (toExclude ** 2 * (1 - margin)) / margin,
          (((toExclude + normalQuantile((1 - POWER) / 2)) * spread) / room) ** 2,
        )
      : Infinity;
  const needed = Math.min(forDifference, forEquivalence);
  return Number.isFinite(needed) ? rounded(Math.max(1, needed - n)) : null;
}

/** To two digits: it is a guess. */
function rounded(count: number): number {
  return Math.ceil(Number(count.toPrecision(2)));
}
