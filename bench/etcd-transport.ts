import { EtcdStore } from "../src/storage/etcd/store.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { median } from "./support.ts";

/**
 * Processor time of this process per call to etcd, with our own HTTP/2 client and with Node's, in turn. Each round creates,
 * reads and deletes the same number of keys, 16 at a time.
 */
const ROUNDS = 7;
const KEYS = 3000;
const AT_A_TIME = 16;
const TRANSPORTS = ["frames", "http2"] as const;

type Step = (store: EtcdStore, key: string) => Promise<unknown>;
const value = Buffer.alloc(1000, "x");
const STEPS: Readonly<Record<string, Step>> = {
  create: (store, key) => store.put(key, value, 0),
  get: (store, key) => store.get(key),
};

const etcd = await startEtcd();
const stores = TRANSPORTS.map((transport) => ({
  transport,
  store: new EtcdStore({ endpoints: etcd.endpoints, transport }),
}));
const figures = new Map<string, number[]>();
for (let round = 0; round < ROUNDS; round++) {
  for (const { transport, store } of stores) {
    for (const [name, step] of Object.entries(STEPS)) {
      const before = process.cpuUsage();
      let next = 0;
      const worker = async () => {
        while (next < KEYS) await step(store, `/bench/${transport}/${round}/${next++}`);
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, worker));
      const { user, system } = process.cpuUsage(before);
      const row = `${name} ${transport}`;
      figures.set(row, [...(figures.get(row) ?? []), (user + system) / KEYS]);
    }
  }
}
for (const name of Object.keys(STEPS)) {
  const [own = 0, node = 0] = TRANSPORTS.map((transport) => median(figures.get(`${name} ${transport}`) ?? []));
  process.stdout.write(
    `${name}: own frames ${own.toFixed(0)} µs, node:http2 ${node.toFixed(0)} µs, ratio ${(own / node).toFixed(2)}\n`,
  );
}
for (const { store } of stores) await store.close();
await etcd.stop();
