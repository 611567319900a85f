import { type AddressRange, parseRange, printNumber, printRange } from "../../../../base/net/ip-range.ts";

/** Prefix lengths of the ranges of nodes, by the size of addresses. Upstream: the defaults of --node-cidr-mask-size-*. */
const NODE_BITS: Readonly<Record<number, number>> = { 4: 24, 16: 64 };
/** Upstream: clusterSubnetMaxDiff */
const MAX_IPV6_DIFFERENCE = 16;

/** The ranges of nodes within the range of a cluster, and which of them are in use. Upstream: CidrSet */
export class RangeSet {
  readonly #cluster: AddressRange;
  readonly #nodeBits: number;
  readonly #count: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** Throws if the range is too small or too large. */
  constructor(cluster: AddressRange) {
    this.#cluster = cluster;
    this.#nodeBits = NODE_BITS[cluster.size] ?? 0;
    const difference = this.#nodeBits - cluster.bits;
    if (difference < 0) {
      const limit =
        "mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family";
      throw new Error(`Controller: Invalid --cluster-cidr, ${limit}`);
    }
    if (cluster.size === 16 && difference > MAX_IPV6_DIFFERENCE) {
      throw new Error("New CIDR set failed; the node CIDR size is too big");
    }
    this.#count = 2 ** difference;
  }

  /** Takes the next free range. Undefined if there is none. */
  allocate(): string | undefined {
    if (this.#used.size === this.#count) return undefined;
    let index = this.#next;
    while (this.#used.has(index)) index = (index + 1) % this.#count;
    this.#next = (index + 1) % this.#count;
    this.#used.add(index);
    const lowest = this.#cluster.lowest + (BigInt(index) << this.#shift);
    return `${printNumber(lowest, this.#cluster.size)}/${this.#nodeBits}`;
  }

  /** Marks a range as used, whether it is or not. Throws if it is not within the range of the cluster. */
  occupy(range: string): void {
    for (const index of this.#indexes(range)) this.#used.add(index);
  }

  release(range: string): void {
    for (const index of this.#indexes(range)) this.#used.delete(index);
  }

  /** Whether a range has addresses in common with that of the cluster. */
  overlaps(range: string): boolean {
    const parsed = parseRange(range);
    const { size, lowest, highest } = this.#cluster;
    return parsed?.size === size && parsed.lowest <= highest && parsed.highest >= lowest;
  }

  get #shift(): bigint {
    return BigInt(8 * this.#cluster.size - this.#nodeBits);
  }

  *#indexes(range: string): Generator<number> {
    const parsed = parseRange(range);
    if (parsed === undefined || !this.overlaps(range)) {
      throw new Error(`cidr ${range} is out the range of cluster cidr ${printRange(this.#cluster)}`);
    }
    const { lowest, highest } = this.#cluster;
    const first = parsed.lowest > lowest ? parsed.lowest : lowest;
    const last = parsed.highest < highest ? parsed.highest : highest;
    const indexOf = (address: bigint) => Number((address - lowest) >> this.#shift);
    for (let index = indexOf(first); index <= indexOf(last); index += 1) yield index;
  }
}
