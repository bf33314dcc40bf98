import { lookup as resolve } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** Why nothing was sent, in words that may be shown. */
export class RefusedAddress extends Error {
  override readonly name = "RefusedAddress";

  constructor() {
    super("refused: the forward URL leads to a private or reserved address");
  }
}

const blockList = (type: "ipv4" | "ipv6", networks: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), type);
  }
  return list;
};

/** IANA's registry of special-purpose addresses, multicast, and where clouds answer their machines (169.254.169.254). */
const REFUSED_4 = blockList("ipv4", [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"],
  ...["172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"],
  ...["198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"],
  // Azure's, which looks public.
  "168.63.129.16/32",
]);
/** All of IPv6 that is public: loopback, link-local, unique local, multicast and mapped addresses are outside. */
const PUBLIC_6 = blockList("ipv6", ["2000::/3"]);
/** Inside of it: protocols and tunnels that may carry any IPv4 address (Teredo, 6to4), and documentation. */
const REFUSED_6 = blockList("ipv6", ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);
/** IPv4 behind the network's own translation: as public as the address that it carries. */
const NAT64 = blockList("ipv6", ["64:ff9b::/96"]);

/** Whether everybody on the internet means the same machine by this address. */
export function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !REFUSED_4.check(address, "ipv4");
  if (version !== 6 || address.includes("%")) return false;
  if (NAT64.check(address, "ipv6")) return !REFUSED_4.check(lastFour(address), "ipv4");
  return PUBLIC_6.check(address, "ipv6") && !REFUSED_6.check(address, "ipv6");
}

/** The IPv4 address in the last 32 bits. */
function lastFour(address: string): string {
  // A URL writes it in one way only: hexadecimal, zeros as `::`.
  const { hostname } = new URL(`http://[${address}]`);
  const [high = 0, low = 0] = hostname
    .slice(1, -1)
    .split(":")
    .slice(-2)
    .map((part) => Number.parseInt(part || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/**
 * Resolves a name for the connection that is being made, so that what was looked at is what is connected to: a name
 * that answers differently the second time (DNS rebinding) gains nothing.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error || !first) return callback(error ?? new RefusedAddress(), "", 0);
    if (!addresses.every(({ address }) => isPublic(address))) {
      return callback(new RefusedAddress(), "", 0);
    }
    if (options.all) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};
