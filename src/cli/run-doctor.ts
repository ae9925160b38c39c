import type { Check } from './doctor/check.ts';
import { collectionChecks } from './doctor/collection-checks.ts';
import { machineChecks } from './doctor/machine-checks.ts';
import { serviceChecks } from './doctor/service-checks.ts';
import { createTerminal } from './terminal.ts';
import { type CommonFlags, withApp } from './with-app.ts';

const EXIT_UNHEALTHY = 3;

/** Looks at everything a run needs. Failing checks say how to mend them and make the exit code 3. */
export function runDoctor(flags: CommonFlags): Promise<number> {
  return withApp(flags, async (app) => {
    const checks = [
      ...(await machineChecks(app)),
      ...(await collectionChecks(app)),
      ...(await serviceChecks(app)),
    ];
    if (flags.json) process.stdout.write(`${JSON.stringify({ ok: checks.every(({ ok }) => ok), checks })}\n`);
    else render(checks);
    return checks.every(({ ok }) => ok) ? 0 : EXIT_UNHEALTHY;
  });
}

function render(checks: readonly Check[]): void {
  const terminal = createTerminal(process.stdout);
  for (const { name, ok, detail, fix } of checks) {
    const mark = ok ? terminal.text('✓', 'green') : terminal.text('✗', 'red');
    terminal.write(`${mark} ${terminal.text(name, 'bold')}: ${terminal.text(detail)}\n`);
    if (fix !== null) terminal.write(`  ${terminal.text(fix, 'yellow')}\n`);
  }
}
