import type { TestContext } from "node:test";
import { type RunningBinnacle, startBinnacle } from "./binnacle.ts";
import { startEtcd } from "./etcd.ts";

/** Starts `count` servers on one etcd, which end with the test. */
export async function startReplicas(t: TestContext, count: number): Promise<readonly RunningBinnacle[]> {
  const etcd = await startEtcd();
  t.after(() => etcd.stop());
  const etcdEndpoint = etcd.endpoints[0] ?? "";
  const servers = await Promise.all(Array.from({ length: count }, () => startBinnacle({ etcdEndpoint })));
  t.after(() => Promise.all(servers.map((server) => server.kill())));
  return servers;
}

/** Milliseconds until the slowest of the callers gets that status code. */
export async function timeUntilAll<T>(
  callers: readonly T[],
  ask: (caller: T) => Promise<{ readonly status: number }>,
  code: number,
): Promise<number> {
  const start = performance.now();
  const times = callers.map(async (caller) => {
    while ((await ask(caller)).status !== code);
    return performance.now() - start;
  });
  return Math.max(...(await Promise.all(times)));
}
