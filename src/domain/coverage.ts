/** How the instructions of an agent say what its collection holds; the offline model reads it back from there. */
const COVERAGE = /^The documents cover: (.+)\.$/m;

export function coverageLine(subjects: readonly string[]): string {
  return `The documents cover: ${subjects.join(', ')}.`;
}

export function coverageIn(instructions: string): string | null {
  return COVERAGE.exec(instructions)?.[1] ?? null;
}
