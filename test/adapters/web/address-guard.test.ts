import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { createAddressGuard, isPublicAddress } from '../../../src/adapters/web/address-guard.ts';

const guard = createAddressGuard({ allowPrivate: false });

const PRIVATE_RANGES = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The four bytes of a random address in a random private range. */
const privateBytes = fc
  .tuple(fc.constantFrom(...PRIVATE_RANGES), fc.nat(0xffffffff))
  .map(([range, noise]) => {
    const [base, bits] = ipaddr.IPv4.parseCIDR(range);
    const start = base.toByteArray().reduce((value, byte) => value * 256 + byte, 0);
    const value = start + (noise % 2 ** (32 - bits));
    return [24, 16, 8, 0].map((shift) => (value / 2 ** shift) & 0xff);
  });

const hex = (bytes: number[]) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
const groups = (bytes: number[]) => `${hex(bytes.slice(0, 2))}:${hex(bytes.slice(2))}`;
const whole = (bytes: number[]) => Number.parseInt(hex(bytes), 16);

/** Ways to write one IPv4 address in a URL. */
const SPELLINGS: Record<string, (bytes: number[]) => string> = {
  dotted: (bytes) => bytes.join('.'),
  'with a final dot': (bytes) => `${bytes.join('.')}.`,
  'as one number': (bytes) => String(whole(bytes)),
  'as one hexadecimal number': (bytes) => `0x${hex(bytes)}`,
  'in octal': (bytes) => bytes.map((byte) => `0${byte.toString(8)}`).join('.'),
  'in mixed bases': ([a, b, c, d]) => `0x${a?.toString(16)}.${b}.0${c?.toString(8)}.${d}`,
  'with three parts in one': ([a, ...rest]) => `${a}.${whole([0, ...rest])}`,
  'mapped into IPv6': (bytes) => `[::ffff:${bytes.join('.')}]`,
  'mapped into IPv6 in hexadecimal': (bytes) => `[::ffff:${groups(bytes)}]`,
  'compatible with IPv6': (bytes) => `[::${groups(bytes)}]`,
  'behind NAT64': (bytes) => `[64:ff9b::${groups(bytes)}]`,
  'behind local NAT64': (bytes) => `[64:ff9b:1::${groups(bytes)}]`,
  'in 6to4': (bytes) => `[2002:${groups(bytes)}::1]`,
  'percent-encoded': (bytes) => bytes.join('%2e'),
  'in full-width digits': (bytes) =>
    bytes.join('.').replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
};

test.each(Object.keys(SPELLINGS))('rejects a private IPv4 address written %s', (spelling) => {
  fc.assert(
    fc.property(privateBytes, (bytes) => {
      const { hostname } = new URL(`http://${SPELLINGS[spelling]?.(bytes)}/`);
      expect(() => guard.checkHost(hostname)).toThrow('is a private address');
    }),
  );
});

test('rejects private, local and multicast IPv6 addresses', () => {
  const prefixes = fc.constantFrom(
    'fc',
    'fd',
    'fe8',
    'fe9',
    'fea',
    'feb',
    'fec',
    'ff',
    '01',
    '00',
    '3fff:0',
    '5f00',
  );
  const digits = fc.array(fc.integer({ min: 0, max: 15 }), { minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(prefixes, digits, (prefix, noise) => {
      const random = noise.map((digit) => digit.toString(16)).join('');
      const address = (prefix.replace(':', '') + random).slice(0, 32).replace(/(.{4})(?=.)/g, '$1:');
      const { hostname } = new URL(`http://[${address}]/`);
      expect(() => guard.checkHost(hostname)).toThrow('private address');
    }),
  );
});

test.each([
  '127.0.0.1',
  '169.254.169.254',
  '[fd00:ec2::254]',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '0x7f.1',
  '2130706433',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'app.localhost',
  '255.255.255.255',
])('rejects the host %s', (host) => {
  expect(() => guard.checkHost(new URL(`http://${host}/`).hostname)).toThrow('private address');
});

test.each(['8.8.8.8', '93.184.216.34', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
  'allows the public address %s',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
    expect(() =>
      guard.checkHost(new URL(`http://${address.includes(':') ? `[${address}]` : address}`).hostname),
    ).not.toThrow();
  },
);

test.each(['', 'example.com', 'fe80::1%eth0', '1.2.3', '127.1'])('%j is not a public address', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

function lookUp(addresses: string[], options: { all?: boolean; family?: number } = {}) {
  const resolved = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const { lookup } = createAddressGuard({ allowPrivate: false, resolve: async () => resolved });
  return new Promise((resolve, reject) => {
    lookup('some.test', options, (error, ...found) => (error ? reject(error) : resolve(found)));
  });
}

test('rejects a name if any of its addresses is private', async () => {
  await expect(lookUp(['10.0.0.1'])).rejects.toMatchObject({
    kind: 'invalid_input',
    message: 'some.test (10.0.0.1) is a private address.',
    hint: 'Pass allowPrivate to allow it.',
  });
  await expect(lookUp(['93.184.216.34', '::1'], { all: true })).rejects.toMatchObject({
    kind: 'invalid_input',
  });
});

test('rejects a private address of another family', async () => {
  await expect(lookUp(['93.184.216.34', 'fd00::1'], { family: 4 })).rejects.toThrow('private address');
});

test('resolves public names in the form that the socket requests', async () => {
  expect(await lookUp(['93.184.216.34', '2606:4700::1'])).toEqual(['93.184.216.34', 4]);
  expect(await lookUp(['93.184.216.34', '2606:4700::1'], { family: 6 })).toEqual(['2606:4700::1', 6]);
  expect(await lookUp(['93.184.216.34'], { all: true })).toEqual([[{ address: '93.184.216.34', family: 4 }]]);
  await expect(lookUp([])).rejects.toMatchObject({ code: 'ENOTFOUND' });
});
