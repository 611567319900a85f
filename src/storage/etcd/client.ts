import {
  decodeLease,
  decodeMembers,
  decodeRange,
  decodeStatus,
  decodeTxn,
  encodeCompaction,
  encodeEmpty,
  encodeLeaseGrant,
  encodeLeaseId,
  encodeRange,
  encodeTxn,
  type LeaseResponse,
  type Member,
  type RangeRequest,
  type RangeResponse,
  type StatusResponse,
  type TxnRequest,
  type TxnResponse,
} from "./messages.ts";
import { GrpcError, grpcStatus, type MessageStream, type Transport } from "./transport.ts";
import { decodeVersionedPut, encodeVersionedPut, type VersionedPut } from "./versioned-put.ts";

/** Typed functions for etcd's gRPC calls. Every failure is a GrpcError. */
export class EtcdClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Sees every acknowledged write unless `serializable` is set. */
  async range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse> {
    return decodeRange(await this.#read("/etcdserverpb.KV/Range", encodeRange(request), timeoutMs));
  }

  /** Sent once. If it fails with `mayHaveHappened`, the transaction may still take effect, even later. */
  async txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse> {
    const options = { timeoutMs, kind: "write" } as const;
    return decodeTxn(await this.#transport.unary("/etcdserverpb.KV/Txn", encodeTxn(request), options));
  }

  /** Writes a key if it has been written `version` times since it was created. Sent once, like `txn`. */
  async putAtVersion(key: string, value: Uint8Array, version: number, timeoutMs: number): Promise<VersionedPut> {
    const request = encodeVersionedPut(key, value, version);
    const options = { timeoutMs, kind: "write" } as const;
    return decodeVersionedPut(await this.#transport.unary("/etcdserverpb.KV/Txn", request, options));
  }

  /** Compacts all revisions before this one. */
  async compact(revision: number, timeoutMs: number): Promise<void> {
    await this.#read("/etcdserverpb.KV/Compact", encodeCompaction(revision), timeoutMs);
  }

  /** Repeated on failure. An unused lease just expires, so repeating a grant is harmless. */
  async grantLease(ttlSeconds: number, timeoutMs: number): Promise<LeaseResponse> {
    const answer = await this.#read("/etcdserverpb.Lease/LeaseGrant", encodeLeaseGrant(ttlSeconds), timeoutMs);
    const lease = decodeLease(answer);
    if (lease.error !== "") throw new GrpcError(grpcStatus.unknown, lease.error);
    return lease;
  }

  /** Deletes the lease and every key attached to it. */
  async revokeLease(id: bigint, timeoutMs: number): Promise<void> {
    await this.#read("/etcdserverpb.Lease/LeaseRevoke", encodeLeaseId(id), timeoutMs);
  }

  /** Renews a lease. `ttlSeconds` is 0 in the response if the lease has expired. */
  async keepLeaseAlive(id: bigint): Promise<LeaseResponse> {
    const stream = await this.#transport.stream("/etcdserverpb.Lease/LeaseKeepAlive");
    stream.write(encodeLeaseId(id));
    try {
      for await (const message of stream.messages) return decodeLease(message);
    } finally {
      stream.cancel();
    }
    throw new GrpcError(grpcStatus.unavailable, "the server sent no response");
  }

  /** The state of the member the transport is connected to. */
  async status(timeoutMs: number): Promise<StatusResponse> {
    return decodeStatus(await this.#read("/etcdserverpb.Maintenance/Status", encodeEmpty(), timeoutMs));
  }

  /** All members of the cluster, as this member knows them. */
  async members(timeoutMs: number): Promise<Member[]> {
    return decodeMembers(await this.#read("/etcdserverpb.Cluster/MemberList", encodeEmpty(), timeoutMs));
  }

  /** Opens a stream for watch requests. */
  openWatch(): Promise<MessageStream> {
    return this.#transport.stream("/etcdserverpb.Watch/Watch");
  }

  /** Makes later calls prefer another member. */
  avoidCurrentMember(): void {
    this.#transport.avoidCurrent();
  }

  /** Cancels all calls and closes the connections. */
  close(): void {
    this.#transport.close();
  }

  #read(path: string, request: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return this.#transport.unary(path, request, { timeoutMs, kind: "read" });
  }
}
