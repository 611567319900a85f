import { parseAddress } from "../../base/net/ip-address.ts";
import { type AddressRange, addressNumber, parseRange, printNumber } from "../../base/net/ip-range.ts";

/** Addresses of nodes. The first two are left to a network and its gateway. */
const NODES = range("172.16.0.0/12");
const FIRST_NODE = 2n;
/** Ranges of Pods for nodes without spec.podCIDR: a /24 each. */
const PODS = range("10.64.0.0/10");
const POD_BITS = 24;

function range(text: string): AddressRange {
  const parsed = parseRange(text);
  if (parsed === undefined) throw new Error(`${text} is not a CIDR`);
  return parsed;
}

/** Addresses of simulated nodes: each gets the lowest that is free. */
export class NodeAddresses {
  readonly #used = new Map<string, bigint>();
  readonly #taken = new Set<bigint>();
  #next = FIRST_NODE;

  /** The address of a node. `known` is the one that its status already has. */
  of(name: string, known: string | undefined): string {
    const before = this.#used.get(name);
    const index = before ?? this.#indexOf(known) ?? this.#free();
    this.#used.set(name, index);
    this.#taken.add(index);
    return printNumber(NODES.lowest + index, NODES.size);
  }

  release(name: string): void {
    const index = this.#used.get(name);
    if (index === undefined) return;
    this.#used.delete(name);
    this.#taken.delete(index);
    if (index < this.#next) this.#next = index;
  }

  #indexOf(address: string | undefined): bigint | undefined {
    const bytes = address === undefined ? undefined : parseAddress(address);
    if (bytes?.length !== NODES.size) return undefined;
    const number = addressNumber(bytes);
    if (number < NODES.lowest || number > NODES.highest) return undefined;
    const index = number - NODES.lowest;
    return this.#taken.has(index) ? undefined : index;
  }

  #free(): bigint {
    while (this.#taken.has(this.#next)) this.#next += 1n;
    return this.#next;
  }
}

/** The range of Pods of a node that has none in its spec: it follows from the address of the node. */
export function defaultPodRange(nodeAddress: string): string {
  const bytes = parseAddress(nodeAddress);
  const number = bytes?.length === NODES.size ? addressNumber(bytes) - NODES.lowest - FIRST_NODE : 0n;
  const count = 1n << BigInt(POD_BITS - PODS.bits);
  const index = ((number % count) + count) % count;
  return `${printNumber(PODS.lowest + (index << BigInt(8 * PODS.size - POD_BITS)), PODS.size)}/${POD_BITS}`;
}

/** The addresses of the Pods of one node, one of each of its ranges per Pod. */
export class PodAddresses {
  readonly #ranges: readonly AddressRange[];
  readonly #owners = new Map<string, string>();
  readonly #byOwner = new Map<string, readonly string[]>();
  readonly #next: bigint[];

  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.map(range);
    // The first two addresses belong to the network and the bridge of the node.
    this.#next = this.#ranges.map(({ lowest }) => lowest + 2n);
  }

  /** The addresses of a Pod. `known` are those that its status already has. Undefined if there is none left. */
  of(uid: string, known: readonly string[]): readonly string[] | undefined {
    const before = this.#byOwner.get(uid);
    if (before) return before;
    const found = known.length > 0 ? known : this.#allocate();
    if (found === undefined) return undefined;
    for (const address of found) this.#owners.set(address, uid);
    this.#byOwner.set(uid, found);
    return found;
  }

  release(uid: string): void {
    for (const address of this.#byOwner.get(uid) ?? [])
      if (this.#owners.get(address) === uid) this.#owners.delete(address);
    this.#byOwner.delete(uid);
  }

  #allocate(): string[] | undefined {
    const found: string[] = [];
    for (const [index, each] of this.#ranges.entries()) {
      const address = this.#allocateIn(index, each);
      if (address === undefined) return undefined;
      found.push(address);
    }
    return found;
  }

  /** The next free address after the last one, so that an address is not used again at once. */
  #allocateIn(index: number, { lowest, highest, size }: AddressRange): string | undefined {
    const first = lowest + 2n;
    let next = this.#next[index] ?? first;
    // The last address of an IPv4 range is for broadcast.
    const last = highest - 1n;
    for (let tried = first; tried <= last; tried += 1n) {
      if (next > last) next = first;
      const address = printNumber(next, size);
      next += 1n;
      if (this.#owners.has(address)) continue;
      this.#next[index] = next;
      return address;
    }
    return undefined;
  }
}
