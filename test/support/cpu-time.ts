/** Milliseconds that this thread has computed: unlike the time on the wall, the same on a busy machine. */
export function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
