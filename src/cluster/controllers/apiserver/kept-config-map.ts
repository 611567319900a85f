import { ApiError } from "../../../base/api/api-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { WorkQueue } from "../../../base/util/work-queue.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { type Follower, follow } from "../../../resources/read/follow.ts";
import type { ControllerContext } from "../shared/controller.ts";

/** A ConfigMap in kube-system that the server keeps up to date. */
export interface KeptConfigMap {
  /** Name of the controller. */
  readonly controller: string;
  readonly name: string;
  /** Reconciliation interval, in addition to every change of the ConfigMap. */
  readonly everyMs: number;
  /**
   * Returns the wanted `data`, or undefined to change nothing. `current` is undefined if the ConfigMap does not exist.
   */
  readonly dataFor: (current: KubeObject | undefined) => Record<string, string> | undefined;
  /** Sets the listener, which is called when the result of `dataFor` has changed. It replaces the previous one. */
  readonly onChange?: (listener: () => void) => void;
}

const NAMESPACE = "kube-system";

/** Keeps the ConfigMap up to date until the signal aborts. Several servers may do so concurrently. */
export async function keepConfigMap(
  context: ControllerContext,
  kept: KeptConfigMap,
  signal: AbortSignal,
): Promise<void> {
  const { resources, report } = context;
  const { store, keys, clock, catalog } = resources;
  const resource = storedResource(catalog, "", "configmaps");
  const key = keys.key(resource.definition, { namespace: NAMESPACE, name: kept.name });
  const queue = new WorkQueue<string>({
    clock,
    concurrency: 1,
    work: () => write(context, resource, kept),
    onError: (error) => {
      const isRace = error instanceof ApiError && (error.code === 404 || error.code === 409);
      if (!isRace) report(kept.controller, error);
    },
  });
  const look = (): void => queue.add(key);
  const timer = clock.setInterval(kept.everyMs, look).unref();
  kept.onChange?.(look);
  const follower: Follower = { found: () => undefined, loaded: look, changed: look };
  try {
    await follow(store, key, follower, signal);
  } finally {
    timer.close();
    await queue.close();
  }
}

async function write(
  { resources, client }: ControllerContext,
  resource: ServedResource,
  { name, dataFor }: KeptConfigMap,
): Promise<void> {
  const current = await resources.access.find("", "configmaps", { namespace: NAMESPACE, name }, "newest");
  const data = dataFor(current);
  if (data === undefined) return;
  const { kind, apiVersion, metadata } = current ?? {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { namespace: NAMESPACE, name },
  };
  if (current) await client.update(resource, { ...current, metadata: { ...metadata }, data });
  else await client.create(resource, { kind, apiVersion, metadata, data });
}
