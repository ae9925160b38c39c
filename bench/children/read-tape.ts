import { readTape } from '../../src/tape/read-tape.ts';

// Reads a tape and prints the time and the memory.
const [path = ''] = process.argv.slice(2);
const started = performance.now();
readTape(path);
const ms = performance.now() - started;
console.log(JSON.stringify({ ms, rssMb: process.resourceUsage().maxRSS / 1024 }));
