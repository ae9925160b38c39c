/** CPU time of this thread in milliseconds, which does not depend on the load of the machine. */
export function threadCpuTimeMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
