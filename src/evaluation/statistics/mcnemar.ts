/**
 * The exact two-sided p of McNemar's test: how likely a split of the discordant pairs at least as uneven is if
 * either side were as likely. Pairs that agree say nothing. Summed in logarithms, so that thousands do not underflow.
 */
export function exactMcNemar(onlyFirst: number, onlySecond: number): number {
  const discordant = onlyFirst + onlySecond;
  const fewer = Math.min(onlyFirst, onlySecond);
  if (discordant === 0 || onlyFirst === onlySecond) return 1;
  let logTerm = -discordant * Math.LN2;
  let tail = Math.exp(logTerm);
  for (let count = 1; count <= fewer; count += 1) {
    logTerm += Math.log((discordant - count + 1) / count);
    tail += Math.exp(logTerm);
  }
  return Math.min(1, 2 * tail);
}
