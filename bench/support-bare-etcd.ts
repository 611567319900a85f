import { EtcdStore } from "../src/storage/etcd/store.ts";

/**
 * The least that a client of etcd can do: it creates keys with values of one size, so many at a time, for some seconds,
 * and prints how many per second. Arguments: the endpoint, the size, how many at a time, the seconds.
 */
const [endpoint = "", size = "0", concurrency = "1", seconds = "1"] = process.argv.slice(2);
const store = new EtcdStore({ endpoints: [endpoint] });
const value = Buffer.alloc(Number(size), "x");
const began = performance.now();
const end = began + Number(seconds) * 1000;
const run = `${Date.now()}`;
let created = 0;

async function create(): Promise<void> {
  while (performance.now() < end) {
    await store.put(`/registry/pods/bare/pod-${run}-${String(created++).padStart(8, "0")}`, value, 0);
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, create));
process.stdout.write(`${(created * 1000) / (performance.now() - began)}\n`);
await store.close();
