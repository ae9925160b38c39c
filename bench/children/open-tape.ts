import { openTape } from '../../src/tape/open-tape.ts';

// Opens a tape, reads one exchange, and prints the time and the memory.
const [path = ''] = process.argv.slice(2);
const started = performance.now();
const tape = openTape(path);
for (const exchange of tape.exchanges()) {
  if (exchange.id > 0) break;
}
const ms = performance.now() - started;
tape.close();
console.log(JSON.stringify({ ms, rssMb: process.resourceUsage().maxRSS / 1024 }));
