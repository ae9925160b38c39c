import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { advice, setting } from '../../faults/advice.ts';
import { AppError } from '../../faults/app-error.ts';

/** All addresses of a host name, as the system resolves it. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

interface AddressGuard {
  /** Throws `invalid_input` when the host is itself a literal address, or a name, of a private network. */
  checkHost(hostname: string): void;
  /** Resolves for a socket. It is the last word: the socket connects to the very addresses checked here. */
  lookup: LookupFunction;
}

interface GuardOptions {
  /** Whether private addresses may be reached, or for which hosts. */
  allowPrivate: boolean | ((hostname: string) => boolean);
  resolve?: Resolve;
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public internet. All special ranges are out: private, loopback, link-local
 * (with the metadata services of clouds), carrier-grade NAT, multicast, reserved, and every IPv6 form that
 * carries an IPv4 address, since that one would go unchecked.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}

/** Keeps requests out of private networks, whatever a name resolves to and wherever a redirect leads. */
export function createAddressGuard({ allowPrivate, resolve = resolveAll }: GuardOptions): AddressGuard {
  const allows = typeof allowPrivate === 'function' ? allowPrivate : () => allowPrivate;

  function checkHost(hostname: string): void {
    const host = hostname.replace(/^\[|\]$/g, '');
    const isPrivate = isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : !isPublicAddress(host);
    if (isPrivate && !allows(hostname)) throw refused(hostname, host);
  }

  async function resolveChecked(hostname: string, family: unknown): Promise<LookupAddress[]> {
    const addresses = await resolve(hostname);
    const bad = addresses.find(({ address }) => !isPublicAddress(address));
    // One private address among public ones is enough: which of them is used is up to the network.
    if (bad !== undefined && !allows(hostname)) throw refused(hostname, bad.address);
    const usable = addresses.filter((each) => (family === 4 || family === 6 ? each.family === family : true));
    if (usable.length > 0) return usable;
    throw Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND' });
  }

  return {
    checkHost,
    lookup(hostname, options, callback) {
      resolveChecked(hostname, options.family).then(
        (addresses) => {
          if (options.all) callback(null, addresses);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      );
    },
  };
}

function resolveAll(hostname: string): Promise<LookupAddress[]> {
  return dns.lookup(hostname, { all: true });
}

function refused(hostname: string, address: string): AppError {
  const named = hostname === address || hostname === `[${address}]` ? '' : ` (${address})`;
  return new AppError('invalid_input', `${hostname}${named} is an address of a private network.`, {
    hint: advice`Pass ${setting('allowPrivate')} to read from it.`,
  });
}
