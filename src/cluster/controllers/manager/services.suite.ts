import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { createServiceRange } from "../apiserver/service-range.ts";
import { WorkloadCluster } from "./workloads.suite.ts";

/** Options of a new Pod. */
export interface NewPod {
  /** Default: app=web. */
  readonly labels?: Record<string, string>;
  /** Default: true. */
  readonly isReady?: boolean;
  /** Further members of its container. */
  readonly container?: JsonObject;
  readonly spec?: JsonObject;
  readonly metadata?: JsonObject;
}

/** A cluster with Services and Pods that have addresses. */
export class ServiceCluster extends WorkloadCluster {
  /** Lets Services get addresses, and adds node-1 in zone a. */
  async prepare(): Promise<void> {
    await createServiceRange(this, ["10.96.0.0/16"]);
    await this.addNode("node-1", { "topology.kubernetes.io/zone": "a" });
  }

  addNode(name: string, labels: Record<string, string> = {}, status: JsonObject = {}): Promise<KubeObject> {
    return this.client.create(this.resource("nodes"), {
      kind: "Node",
      apiVersion: "v1",
      metadata: { name, labels },
      status,
    });
  }

  /** A Service that selects the label app=web, with port 80. */
  addService(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Promise<KubeObject> {
    const ports = [{ port: 80 }];
    return this.post("services", name, { selector: { app: "web" }, ports, ...spec }, metadata);
  }

  /** A running Pod on node-1. */
  async addPod(
    name: string,
    ip: string,
    { labels = { app: "web" }, isReady = true, container, spec, metadata }: NewPod = {},
  ): Promise<Pod> {
    const containers = [{ name: "main", image: "nginx", ...container }];
    const pod = await this.post("pods", name, { nodeName: "node-1", containers, ...spec }, { labels, ...metadata });
    const conditions = [
      { type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    const status = { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions };
    await this.patchStatus(name, status);
    return pod as Pod;
  }

  async setReady(name: string, isReady: boolean): Promise<void> {
    await this.patchStatus(name, { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] });
  }

  async patchStatus(name: string, status: JsonObject): Promise<void> {
    const key = { namespace: "default", name };
    await this.client.patch(this.resource("pods"), key, { status }, { isStrategic: true, subresource: "status" });
  }
}
