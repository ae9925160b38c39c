type Labels = Readonly<Record<string, string>>;

/** A number that only grows, by labels. */
export function createCounter(name: string, help: string) {
  const values = new Map<string, number>();
  return {
    add(labels: Labels, amount = 1): void {
      const key = labelText(labels);
      values.set(key, (values.get(key) ?? 0) + amount);
    },
    lines(): string[] {
      return [
        ...head(name, help, 'counter'),
        ...Array.from(values, ([key, value]) => `${name}${key} ${value}`),
      ];
    },
  };
}

/** How many observations were at most so large. */
export function createHistogram(name: string, help: string, bounds: readonly number[]) {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;
  return {
    observe(value: number): void {
      count += 1;
      sum += value;
      for (const [index, bound] of bounds.entries())
        if (value <= bound) counts[index] = (counts[index] ?? 0) + 1;
    },
    lines(): string[] {
      return [
        ...head(name, help, 'histogram'),
        ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${counts[index]}`),
        `${name}_bucket{le="+Inf"} ${count}`,
        `${name}_sum ${sum}`,
        `${name}_count ${count}`,
      ];
    },
  };
}

export function gaugeLines(name: string, help: string, value: number, labels: Labels = {}): string[] {
  return [...head(name, help, 'gauge'), `${name}${labelText(labels)} ${value}`];
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
