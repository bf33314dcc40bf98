import { expect, test } from "vitest";
import { isPublic, publicLookup } from "../../src/channels/address.ts";

test.each([
  ...["0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.9.9.9"],
  ...["169.254.169.254", "168.63.129.16", "172.16.0.1", "172.31.255.255", "192.0.0.192"],
  ...["192.168.1.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"],
  ...["::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1"],
  // Mapped, compatible, translated and tunnelled IPv4.
  ...["::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::10.0.0.1"],
  ...["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2002:7f00:1::1"],
  ...["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "3fff::1"],
  ...["", "localhost", "1.2.3", "1.2.3.4.5"],
])("%s is refused", (address) => {
  expect(isPublic(address)).toBe(false);
});

test.each([
  ...["1.1.1.1", "8.8.8.8", "100.63.255.255", "172.15.0.1", "172.32.0.1", "192.169.0.1"],
  ...["2606:4700:4700::1111", "2a00:1450:4001::200e", "64:ff9b::8.8.8.8", "64:ff9b::808:808"],
])("%s is public", (address) => {
  expect(isPublic(address)).toBe(true);
});

test.each([{ all: true }, {}])(
  "a name of this machine is refused as it is looked up (%j)",
  async (options) => {
    const refused = await new Promise((resolve) => publicLookup("localhost", options, resolve));
    expect(refused).toMatchObject({
      message: "refused: the forward URL leads to a private or reserved address",
    });
  },
);
