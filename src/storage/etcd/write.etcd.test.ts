import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type EtcdCluster, startEtcd } from "../../../test/support/etcd.ts";
import { needs } from "../../../test/support/tools.ts";
import { Channel } from "./channel.ts";
import { EtcdClient } from "./client.ts";
import { connectFrames } from "./connect-frames.ts";
import type { RangeRequest, RangeResponse, TxnRequest, TxnResponse } from "./messages.ts";
import { GrpcError, grpcStatus } from "./transport.ts";
import { conditionalWrite } from "./write.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A client whose first transaction is delayed and arrives right after the key was read. */
class Overtaking extends EtcdClient {
  #late: { readonly request: TxnRequest; isUnderWay: boolean } | undefined;
  /** Runs at that moment, before the transaction arrives. */
  meanwhile: () => Promise<unknown> = async () => undefined;

  override async txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse> {
    if (this.#late !== undefined) return super.txn(request, timeoutMs);
    this.#late = { request, isUnderWay: true };
    throw new GrpcError(grpcStatus.unavailable, "connection lost", { mayHaveHappened: true });
  }

  override async range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse> {
    const response = await super.range(request, timeoutMs);
    if (this.#late?.isUnderWay) {
      this.#late.isUnderWay = false;
      await this.meanwhile();
      await super.txn(this.#late.request, timeoutMs);
    }
    return response;
  }
}

describe("a write that is sent again while its first copy is still pending", needs("etcd"), () => {
  let cluster: EtcdCluster;
  const clients: EtcdClient[] = [];
  before(async () => {
    cluster = await startEtcd();
  });
  after(async () => {
    for (const client of clients) client.close();
    await cluster.stop();
  });

  function open<T extends EtcdClient>(make: (channel: Channel) => T): T {
    const client = make(new Channel(connectFrames, { endpoints: cluster.endpoints }));
    clients.push(client);
    return client;
  }

  async function create(key: string): Promise<number> {
    const success = { type: "put", key, value: bytes("first") } as const;
    const { revision } = await open((channel) => new EtcdClient(channel)).txn(
      { compare: { key, modRevision: 0 }, success },
      3000,
    );
    return revision;
  }

  it("does not report a conflict if its first copy made the second fail", async () => {
    const key = "/overtaken/by-itself";
    const expected = await create(key);
    const client = open((channel) => new Overtaking(channel));
    const success = { type: "put", key, value: bytes("second") } as const;
    await assert.rejects(conditionalWrite(client, { key, expected, success }, 3000), { code: "unavailable" });
    const deleted = await create("/overtaken/deleted");
    const other = open((channel) => new Overtaking(channel));
    const write = { key: "/overtaken/deleted", expected: deleted } as const;
    const removal = { type: "delete", key: write.key } as const;
    await assert.rejects(conditionalWrite(other, { ...write, success: removal }, 3000), { code: "unavailable" });
  });

  it("reports a conflict if another client's write made both fail", async () => {
    const key = "/overtaken/by-another";
    const expected = await create(key);
    const client = open((channel) => new Overtaking(channel));
    const another = open((channel) => new EtcdClient(channel));
    const theirs = { type: "put", key, value: bytes("theirs") } as const;
    client.meanwhile = () => another.txn({ compare: { key, modRevision: expected }, success: theirs }, 3000);
    const success = { type: "put", key, value: bytes("second") } as const;
    const result = await conditionalWrite(client, { key, expected, success }, 3000);
    assert.ok(!result.ok);
    assert.deepEqual(result.current?.value, bytes("theirs"));
  });
});
