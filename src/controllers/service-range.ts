import { ApiError } from "../api/api-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../api/object.ts";
import type { Resources } from "../resources/resources.ts";
import { printTime } from "../resources/write/metadata.ts";

const GROUP = "networking.k8s.io";
const PLURAL = "servicecidrs";
const KEY = { namespace: "", name: "kubernetes" };
const READY = "Ready";

/**
 * Creates the ServiceCIDR kubernetes and sets its condition Ready. Where it exists it stays as it is, but may get a
 * second IP family.
 */
export async function createServiceRange(resources: Resources, cidrs: readonly string[]): Promise<void> {
  const { access, clock } = resources;
  let range = await access.find(GROUP, PLURAL, KEY);
  if (!range) range = await create(resources, cidrs);
  const known = cidrsOf(range);
  if (known.length === 1 && cidrs.length === 2 && known[0] === cidrs[0]) {
    await access.update(GROUP, PLURAL, KEY, (current) => ({ ...current, spec: { cidrs: [...cidrs] } }));
    return;
  }
  if (conditionsOf(range).some(({ type }) => type === READY) || known.join() !== cidrs.join()) return;
  const ready = {
    type: READY,
    status: "True",
    lastTransitionTime: printTime(clock.now()),
    reason: "",
    message: "Kubernetes default Service CIDR is ready",
  };
  await access.update(GROUP, PLURAL, KEY, (current) => ({ ...current, status: { conditions: [ready] } }), {
    subresource: "status",
  });
}

async function create({ access }: Resources, cidrs: readonly string[]): Promise<KubeObject> {
  const wanted = {
    kind: "ServiceCIDR",
    apiVersion: `${GROUP}/v1`,
    metadata: { name: KEY.name },
    spec: { cidrs: [...cidrs] },
  };
  try {
    return await access.create(GROUP, PLURAL, wanted);
  } catch (error) {
    // Another replica started at the same moment.
    if (!(error instanceof ApiError && error.code === 409)) throw error;
    return (await access.find(GROUP, PLURAL, KEY)) ?? wanted;
  }
}

function cidrsOf({ spec }: KubeObject): string[] {
  return isObject(spec) && Array.isArray(spec.cidrs) ? (spec.cidrs as string[]) : [];
}

function conditionsOf({ status }: KubeObject): JsonObject[] {
  return isObject(status) && Array.isArray(status.conditions) ? (status.conditions as JsonObject[]) : [];
}
