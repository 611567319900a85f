import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { type ControllerContext, ensureObject } from "../shared/controller.ts";

const GROUP = "networking.k8s.io";
const PLURAL = "servicecidrs";
const KEY = { namespace: "", name: "kubernetes" };
const READY = "Ready";
const FIELD_MANAGER = "kubernetes-service-cidr-controller";

/**
 * Creates the ServiceCIDR kubernetes and sets its condition Ready. If it exists, it is not changed, except that a
 * second IP family may be added.
 */
export async function createServiceRange(context: ControllerContext, cidrs: readonly string[]): Promise<void> {
  const { resources, client } = context;
  const { access, clock, catalog } = resources;
  const resource = storedResource(catalog, GROUP, PLURAL);
  const base = { kind: "ServiceCIDR", apiVersion: resource.apiVersion, metadata: { name: KEY.name } };
  await ensureObject(context, resource, { ...base, spec: { cidrs: [...cidrs] } });
  const range = await access.find(GROUP, PLURAL, KEY, "newest");
  if (!range) return;
  const known = cidrsOf(range);
  if (known.length === 1 && cidrs.length === 2 && known[0] === cidrs[0]) {
    await client.update(resource, { ...range, spec: { cidrs: [...cidrs] } });
    return;
  }
  if (conditionsOf(range).some(({ type }) => type === READY) || known.join() !== cidrs.join()) return;
  const ready = {
    type: READY,
    status: "True",
    lastTransitionTime: printTime(clock.now()),
    message: "Kubernetes default Service CIDR is ready",
  };
  const options = { fieldManager: FIELD_MANAGER, subresource: "status" };
  await client.apply(resource, { ...base, status: { conditions: [ready] } }, options);
}

function cidrsOf({ spec }: KubeObject): string[] {
  return isObject(spec) && Array.isArray(spec.cidrs) ? (spec.cidrs as string[]) : [];
}

function conditionsOf({ status }: KubeObject): JsonObject[] {
  return isObject(status) && Array.isArray(status.conditions) ? (status.conditions as JsonObject[]) : [];
}
