/**
 * Addresses outside of the cluster: 198.18.0.0/16. It belongs to a range for benchmarks (RFC 2544), so no real network
 * uses it. For IPv6, 2001:2::/64 (RFC 5180).
 */
const SIZE = 2 ** 16;
/** The addresses of all Ingresses. */
const INGRESS = 1;
const FIRST_BALANCER = 2;

/** The families of addresses. */
export type Family = "IPv4" | "IPv6";

const textOf = (index: number, family: Family): string =>
  family === "IPv6" ? `2001:2::${index.toString(16)}` : `198.18.${index >> 8}.${index & 255}`;

/** The address at which a simulated ingress controller could be reached. */
export const INGRESS_ADDRESS = textOf(INGRESS, "IPv4");

/** Chooses addresses of load balancers, one after the other, so that one that is free again is not used at once. */
export class Addresses {
  readonly #isUsed: (address: string) => boolean;
  #next = FIRST_BALANCER;

  constructor(isUsed: (address: string) => boolean) {
    this.#isUsed = isUsed;
  }

  /** Undefined if all are in use. */
  choose(family: Family): string | undefined {
    for (let tries = FIRST_BALANCER; tries < SIZE; tries += 1) {
      const address = textOf(this.#next, family);
      this.#next = this.#next + 1 < SIZE ? this.#next + 1 : FIRST_BALANCER;
      if (!this.#isUsed(address)) return address;
    }
    return undefined;
  }
}
