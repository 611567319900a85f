import { request } from "node:https";
import type { KubeObject } from "../api/object.ts";
import type { ObjectAccess, ResourceHooks } from "../resources/model/definition.ts";

/**
 * Compat: ComponentStatus asks kube-controller-manager and kube-scheduler for `/healthz` at their default ports on this
 * machine.
 */
const COMPONENTS = { "controller-manager": 10_257, scheduler: 10_259 } as const;
const TIMEOUT_MS = 5000;
const HOST = "127.0.0.1";

interface Health {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** Asks a component for `/healthz`. Its certificate is self-signed, so it is not verified. */
function askHealth(port: number): Promise<Health> {
  const url = `https://${HOST}:${port}/healthz`;
  const { promise, resolve } = Promise.withResolvers<Health>();
  const call = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS }, (response) => {
    let message = "";
    response.setEncoding("utf8").on("data", (text: string) => {
      message += text;
    });
    response.on("end", () => resolve({ isHealthy: response.statusCode === 200, message }));
  });
  call.on("timeout", () => call.destroy(new Error("context deadline exceeded")));
  call.on("error", (error: NodeJS.ErrnoException) => {
    const refused = `dial tcp ${HOST}:${port}: connect: connection refused`;
    const reason = error.code === "ECONNREFUSED" ? refused : error.message;
    resolve({ isHealthy: false, message: `Get "${url}": ${reason}` });
  });
  call.end();
  return promise;
}

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
export const componentStatusHooks: ResourceHooks = {
  async compute(access) {
    const parts = Object.entries(COMPONENTS).map(async ([name, port]) => statusOf(name, await askHealth(port)));
    return Promise.all([...parts, askStore(access).then((health) => statusOf("etcd-0", health))]);
  },
};
