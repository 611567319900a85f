import { ApiError } from "../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { Draft } from "../../../resources/model/draft.ts";
import type { Store } from "../../../storage/store.ts";
import { World } from "../admission.suite.ts";
import { resourceQuota } from "./resource-quota.ts";

/** A ResourceQuota with a status. Default of `used`: zero. */
export function quota(name: string, hard: object, used?: object, spec: object = {}): KubeObject {
  const nothing = Object.fromEntries(Object.keys(hard).map((resource) => [resource, "0"]));
  return {
    kind: "ResourceQuota",
    apiVersion: "v1",
    metadata: { name, namespace: "ns" },
    spec: { hard: { ...hard }, ...spec },
    status: { hard: { ...hard }, used: { ...(used ?? nothing) } },
  };
}

/** The number of objects created and of writes rejected, and the quota's usage. */
export interface Count {
  readonly created: number;
  readonly refused: number;
  readonly used: unknown;
}

/** Creates objects with many concurrent writers, each through one of several servers, until a quota rejects them. */
export async function createTogether(
  stores: readonly Store[],
  { writers, each, hard }: { readonly writers: number; readonly each: number; readonly hard: number },
): Promise<Count> {
  const servers = stores.map((store) => {
    const world = new World(store);
    return { world, plugin: resourceQuota(world.access) };
  });
  const [first] = servers;
  if (!first) throw new Error("there is no server");
  await first.world.given("resourcequotas", quota("q", { configmaps: String(hard) }));
  // Quotas are read from a possibly stale state, so each server must have seen the quota before the test.
  for (const { world } of servers) await world.access.list("", "resourcequotas", "ns");
  let refused = 0;
  const write = async (writer: number) => {
    const { world, plugin } = servers[writer % servers.length] ?? first;
    const resource = world.resource("", "configmaps");
    for (let count = 0; count < each; count += 1) {
      const metadata = { name: `w${writer}-${count}`, namespace: "ns" };
      const object: KubeObject = { kind: "ConfigMap", apiVersion: "v1", metadata };
      try {
        await world.resources.collection(resource).create(resource, new Draft(object), {
          admit: async (next) => plugin.validate?.(world.request({ plural: "configmaps", object: next })),
        });
      } catch (error) {
        if (!(error instanceof ApiError && error.message.includes("exceeded quota"))) throw error;
        refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const objects = await first.world.access.list("", "configmaps", "ns");
  const [stored] = await first.world.access.list("", "resourcequotas", "ns");
  const used = isObject(stored?.status) && isObject(stored.status.used) ? stored.status.used.configmaps : undefined;
  return { created: objects.length, refused, used };
}
