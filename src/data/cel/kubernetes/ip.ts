import { AddressError, parseAddr } from "../../../base/go/netip.ts";
import { quote } from "../../../base/go/quote.ts";
import { isMapped, printAddress } from "../../../base/net/ip-address.ts";
import { spendOnText } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { boolType, intType, opaqueType, stringType, typeOf } from "../values/types.ts";
import { CelError, Foreign, TypeValue } from "../values/value.ts";
import { declare, global, member } from "./declare.ts";

/** net.IP. */
export const ipType = opaqueType("net.IP");

/** An IP address without a zone, never IPv4-mapped. */
export class Ip extends Foreign {
  override get goType(): string {
    return "cel.IP";
  }
  readonly bytes: Uint8Array;
  override readonly size: number;
  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
    this.size = bytes.length;
  }
  get type() {
    return ipType;
  }
  equals(other: Foreign): boolean {
    return other instanceof Ip && this.bytes.length === other.bytes.length && isEqual(this.bytes, other.bytes);
  }
}

const isEqual = (a: Uint8Array, b: Uint8Array) => a.every((byte, i) => byte === b[i]);

/** Parses an address. Returns the error of ip() if it is malformed. */
export function parseIp(text: string): Ip | CelError {
  // Messages quote the text.
  spendOnText(text, "each");
  try {
    const { bytes, zone } = parseAddr(text);
    if (zone !== "") return new CelError(`IP address ${quote(text)} with zone value is not allowed`);
    if (isMapped(bytes)) return new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
    return new Ip(bytes);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return new CelError(`IP Address ${quote(text)} parse error during conversion from string: ${error.message}`);
  }
}

const isIPv4 = ({ bytes }: Ip) => bytes.length === 4;
const first = ({ bytes }: Ip) => bytes[0] as number;
const second = ({ bytes }: Ip) => bytes[1] as number;
const isUnspecified = ({ bytes }: Ip) => bytes.every((byte) => byte === 0);
const isLoopback = (ip: Ip) =>
  isIPv4(ip) ? first(ip) === 127 : ip.bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
const isMulticast = (ip: Ip) => (isIPv4(ip) ? (first(ip) & 0xf0) === 0xe0 : first(ip) === 0xff);
const isLinkLocalMulticast = (ip: Ip) =>
  isIPv4(ip)
    ? first(ip) === 224 && second(ip) === 0 && ip.bytes[2] === 0
    : first(ip) === 0xff && (second(ip) & 0x0f) === 2;
const isLinkLocalUnicast = (ip: Ip) =>
  isIPv4(ip) ? first(ip) === 169 && second(ip) === 254 : first(ip) === 0xfe && (second(ip) & 0xc0) === 0x80;
const isBroadcast = (ip: Ip) => isIPv4(ip) && ip.bytes.every((byte) => byte === 255);
const isGlobalUnicast = (ip: Ip) =>
  !isBroadcast(ip) && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);

function isCanonical(text: string): boolean | CelError {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : printAddress(ip.bytes) === text;
}

const test = (name: string, id: string, call: (ip: Ip) => boolean) =>
  declare(name, member(id, [ipType], boolType, call));

/** kubernetes.net.ip: ip, isIP, ip.isCanonical, family, and predicates of addresses. */
export const ipLibrary: Library = {
  name: "kubernetes.net.ip",
  constants: [{ name: "net.IP", type: typeOf(ipType), value: new TypeValue(ipType) }],
  functions: [
    declare("ip", global("string_to_ip", [stringType], ipType, parseIp)),
    declare(
      "family",
      member("ip_family", [ipType], intType, (ip: Ip) => (isIPv4(ip) ? 4 : 6)),
    ),
    declare("ip.isCanonical", global("ip_is_canonical", [stringType], boolType, isCanonical)),
    test("isUnspecified", "ip_is_unspecified", isUnspecified),
    test("isLoopback", "ip_is_loopback", isLoopback),
    test("isLinkLocalMulticast", "ip_is_link_local_multicast", isLinkLocalMulticast),
    test("isLinkLocalUnicast", "ip_is_link_local_unicast", isLinkLocalUnicast),
    test("isGlobalUnicast", "ip_is_global_unicast", isGlobalUnicast),
    declare(
      "isIP",
      global("is_ip", [stringType], boolType, (text: string) => !(parseIp(text) instanceof CelError)),
    ),
    declare(
      "string",
      global("ip_to_string", [ipType], stringType, (ip: Ip) => printAddress(ip.bytes)),
    ),
  ],
};
