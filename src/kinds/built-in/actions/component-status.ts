import type { KubeObject } from "../../../base/api/object.ts";
import type { ComputeAction } from "../../../resources/model/actions.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";

/**
 * Compat: ComponentStatus probes `/healthz` of kube-controller-manager and kube-scheduler at their default ports on
 * this machine.
 */
const COMPONENTS = { "controller-manager": 10_257, scheduler: 10_259 } as const;

/** Result of a `/healthz` probe. */
export interface Health {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** Probes `/healthz` of the component that listens on a local port. Never rejects. */
export type ProbeHealth = (port: number) => Promise<Health>;

async function askStore(access: ObjectAccess): Promise<Health> {
  try {
    await access.findRecord("health");
    return { isHealthy: true, message: "ok" };
  } catch (error) {
    return { isHealthy: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function statusOf(name: string, { isHealthy, message }: Health): KubeObject {
  const condition = { type: "Healthy", status: isHealthy ? "True" : "False", message };
  return { kind: "ComponentStatus", apiVersion: "v1", metadata: { name }, conditions: [condition] };
}

/** ComponentStatus: the health of controller-manager, scheduler and etcd. Nothing is stored. */
export function componentStatuses(probe: ProbeHealth): ComputeAction {
  return (access) => {
    const parts = Object.entries(COMPONENTS).map(async ([name, port]) => statusOf(name, await probe(port)));
    return Promise.all([...parts, askStore(access).then((health) => statusOf("etcd-0", health))]);
  };
}
