import type { Node } from "../../kinds/types/node.ts";
import type { Resources } from "../../resources/resources.ts";
import { isNodeReady } from "../controllers/shared/nodes.ts";

const PAUSE_MS = 5;
/** Thousands of nodes take longer, and with a shared etcd another server may simulate them. */
const MAX_MS = 10_000;

/** Resolves when this many nodes are Ready, or after ten seconds. */
export async function nodesReady({ access, clock }: Pick<Resources, "access" | "clock">, count: number): Promise<void> {
  const deadlineMs = clock.monotonic() + MAX_MS;
  while (count > 0 && clock.monotonic() < deadlineMs) {
    const nodes = (await access.list("", "nodes", "", "any")) as Node[];
    if (nodes.filter(isNodeReady).length >= count) return;
    await clock.sleep(PAUSE_MS);
  }
}
