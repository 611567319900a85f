import { isNodeReady } from "../../cluster/controllers/shared/nodes.ts";
import type { Node } from "../../kinds/types/node.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Config } from "./config.ts";

const PAUSE_MS = 5;
/** Thousands of nodes take longer, and with a shared etcd another server may simulate them. */
const MAX_MS = 10_000;

/** Resolves when as many nodes are Ready as the configuration has simulated nodes, or after ten seconds. */
export async function nodesReady(
  { access, clock }: Pick<Resources, "access" | "clock">,
  { simulatedNodes }: Pick<Config, "simulatedNodes">,
): Promise<void> {
  const deadlineMs = clock.monotonic() + MAX_MS;
  while (simulatedNodes > 0 && clock.monotonic() < deadlineMs) {
    const nodes = (await access.list("", "nodes", "", "any")) as Node[];
    if (nodes.filter(isNodeReady).length >= simulatedNodes) return;
    await clock.sleep(PAUSE_MS);
  }
}
