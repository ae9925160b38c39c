import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { advice, settingName } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';

/** Resolves a host name to all its addresses. */
export type ResolveHost = (hostname: string) => Promise<LookupAddress[]>;

interface GuardOptions {
  /** Whether private addresses are allowed, or for which hosts. */
  allowPrivate?: boolean | ((hostname: string) => boolean) | undefined;
  resolve?: ResolveHost | undefined;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is on the public internet. Not public are private, loopback, link-local (with cloud metadata
 * services), carrier-grade NAT, multicast and reserved addresses, and IPv6 addresses that embed an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}

/** Refuses requests to private networks, whatever a name resolves to. */
export function createAddressGuard({
  allowPrivate = false,
  resolve = (hostname) => dns.lookup(hostname, { all: true }),
}: GuardOptions) {
  const allows = typeof allowPrivate === 'function' ? allowPrivate : () => allowPrivate;

  /** Throws `invalid_input` if the host is a private address or a name of this machine. */
  function checkHost(hostname: string): void {
    const host = hostname.replace(/^\[|\]$/g, '');
    const isPrivate = isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : !isPublicAddress(host);
    if (isPrivate && !allows(hostname)) throw privateAddressError(hostname, host);
  }

  async function resolveChecked(hostname: string, family: unknown): Promise<LookupAddress[]> {
    const addresses = await resolve(hostname);
    const bad = addresses.find(({ address }) => !isPublicAddress(address));
    // A single private address is enough, because the network decides which one is used.
    if (bad !== undefined && !allows(hostname)) throw privateAddressError(hostname, bad.address);
    const usable = addresses.filter((each) => (family === 4 || family === 6 ? each.family === family : true));
    if (usable.length > 0) return usable;
    throw Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND' });
  }

  /** For sockets: they connect only to the addresses that are checked here. */
  const lookup: LookupFunction = (hostname, options, callback) => {
    resolveChecked(hostname, options.family).then(
      (addresses) => {
        if (options.all) callback(null, addresses);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };

  return { checkHost, lookup };
}

function privateAddressError(hostname: string, address: string): AppError {
  const named = hostname === address || hostname === `[${address}]` ? '' : ` (${address})`;
  return new AppError('invalid_input', `${hostname}${named} is a private address.`, {
    hint: advice`Pass ${settingName('allowPrivate')} to allow it.`,
  });
}
