import { AddressError, parsePrefix } from "../../../base/go/netip.ts";
import { quote } from "../../../base/go/quote.ts";
import { isMapped, printAddress } from "../../../base/net/ip-address.ts";
import { spendOnText } from "../cost/work.ts";
import type { Library } from "../standard/library.ts";
import { boolType, intType, opaqueType, stringType, typeOf } from "../values/types.ts";
import { CelError, Foreign, TypeValue, type Value } from "../values/value.ts";
import { containment } from "./costs.ts";
import { declare, global, member } from "./declare.ts";
import { Ip, ipType, parseIp } from "./ip.ts";

const cidrType = opaqueType("net.CIDR");

/** An address and a prefix length. Bits after the prefix may be set. */
class Cidr extends Foreign {
  override get goType(): string {
    return "cel.CIDR";
  }
  readonly address: Ip;
  readonly bits: number;
  override readonly size: number;
  constructor(address: Ip, bits: number) {
    super();
    this.address = address;
    this.bits = bits;
    this.size = Math.ceil(bits / 8);
  }
  get type() {
    return cidrType;
  }
  equals(other: Foreign): boolean {
    return other instanceof Cidr && this.bits === other.bits && this.address.equals(other.address);
  }
}

function parseCidr(text: string): Cidr | CelError {
  spendOnText(text, "each");
  try {
    const { bytes, bits } = parsePrefix(text);
    if (isMapped(bytes)) return failed(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
    return new Cidr(new Ip(bytes), bits);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    // Compat: parseCIDR and stringToCIDR both add this prefix.
    return failed(`network address parse error during conversion from string: ${error.message}`);
  }
}

const failed = (reason: string) => new CelError(`network address parse error during conversion from string: ${reason}`);

/** Whether two addresses of one family have the same prefix. */
function sharesPrefix({ bytes }: Ip, { bytes: other }: Ip, bits: number): boolean {
  if (bytes.length !== other.length) return false;
  for (let i = 0; i * 8 < bits; i++) {
    const mask = 0xff & (0xff << Math.max(0, 8 * (i + 1) - bits));
    if ((((bytes[i] as number) ^ (other[i] as number)) & mask) !== 0) return false;
  }
  return true;
}

const containsIp = (cidr: Cidr, ip: Value) => (ip instanceof Ip ? sharesPrefix(cidr.address, ip, cidr.bits) : ip);

const containsCidr = (cidr: Cidr, other: Value) =>
  other instanceof Cidr ? cidr.bits <= other.bits && sharesPrefix(cidr.address, other.address, cidr.bits) : other;

function masked({ address, bits }: Cidr): Cidr {
  const bytes = address.bytes.map((byte, i) => byte & (0xff << Math.min(8, Math.max(0, 8 * (i + 1) - bits))));
  return new Cidr(new Ip(bytes), bits);
}

const ONE = { cost: () => 1, estimate: () => ({ cost: { min: 1, max: 1 } }) };

/** kubernetes.net.cidr: cidr, isCIDR, containsIP, containsCIDR, ip, prefixLength, masked. */
export const cidrLibrary: Library = {
  name: "kubernetes.net.cidr",
  constants: [{ name: "net.CIDR", type: typeOf(cidrType), value: new TypeValue(cidrType) }],
  functions: [
    declare("cidr", global("string_to_cidr", [stringType], cidrType, parseCidr)),
    declare(
      "containsIP",
      {
        ...member("cidr_contains_ip_string", [cidrType, stringType], boolType, (cidr: Cidr, text: string) =>
          // Compat: cidrContainsIP reports a malformed text as a missing overload.
          containsIp(cidr, parseIp(text)) instanceof CelError ? NO_OVERLOAD : containsIp(cidr, parseIp(text)),
        ),
        ...containment(false, true),
      },
      member("cidr_contains_ip_ip", [cidrType, ipType], boolType, containsIp),
    ),
    declare(
      "containsCIDR",
      {
        ...member("cidr_contains_cidr_string", [cidrType, stringType], boolType, (cidr: Cidr, text: string) =>
          containsCidr(cidr, parseCidr(text)),
        ),
        ...containment(true, true),
      },
      member("cidr_contains_cidr", [cidrType, cidrType], boolType, containsCidr),
    ),
    declare("ip", { ...member("cidr_ip", [cidrType], ipType, ({ address }: Cidr) => address), ...ONE }),
    declare(
      "prefixLength",
      member("cidr_prefix_length", [cidrType], intType, ({ bits }: Cidr) => bits),
    ),
    declare("masked", member("cidr_masked", [cidrType], cidrType, masked)),
    declare(
      "isCIDR",
      global("is_cidr", [stringType], boolType, (text: string) => parseCidr(text) instanceof Cidr),
    ),
    declare(
      "string",
      global(
        "cidr_to_string",
        [cidrType],
        stringType,
        ({ address, bits }: Cidr) => `${printAddress(address.bytes)}/${bits}`,
      ),
    ),
  ],
};

const NO_OVERLOAD = new CelError("no such overload");
