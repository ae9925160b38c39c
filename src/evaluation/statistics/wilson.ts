const Z = 1.959963984540054;

/** The 95 % interval of a share. Unlike the bootstrap it knows that 20 of 20 does not prove 100 %. */
export function wilsonInterval(share: number, n: number): [number, number] {
  const z2 = Z * Z;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  // At the ends the bound is exact; rounding must not push it past the value.
  return [share === 0 ? 0 : Math.max(0, centre - half), share === 1 ? 1 : Math.min(1, centre + half)];
}
