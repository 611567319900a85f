import type { JsonObject } from "../../../base/api/object.ts";
import type { Node, NodeCondition, Taint } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import { printMicroTime } from "../../../resources/write/metadata.ts";
import { conditionOf } from "../shared/nodes.ts";
import { JobCluster } from "./job/job.suite.ts";

const LEASES = "kube-node-lease";

/** A cluster with nodes that post their status and renew their Leases by calls. */
export class NodeCluster extends JobCluster {
  /** Creates a node that is ready and has a Lease. */
  async addNode(name: string, labels: { [key: string]: string } = {}, spec: JsonObject = {}): Promise<void> {
    const metadata = { name, labels };
    await this.client.create(this.resource("nodes"), { kind: "Node", apiVersion: "v1", metadata, spec });
    await this.setCondition(name, "Ready", "True");
    await this.client.create(this.resource("leases"), {
      kind: "Lease",
      apiVersion: "coordination.k8s.io/v1",
      metadata: { name, namespace: LEASES },
      spec: { renewTime: this.#microTime() },
    });
  }

  /** Posts a condition, as a kubelet does. */
  async setCondition(name: string, type: string, status: string): Promise<void> {
    const condition = { type, status, lastHeartbeatTime: this.now, lastTransitionTime: this.now };
    const patch = { status: { conditions: [condition] } };
    const options = { isStrategic: true, subresource: "status" };
    await this.client.patch(this.resource("nodes"), { namespace: "", name }, patch, options);
  }

  async renew(...names: readonly string[]): Promise<void> {
    const patch = { spec: { renewTime: this.#microTime() } };
    for (const name of names) await this.client.patch(this.resource("leases"), { namespace: LEASES, name }, patch);
  }

  /** Lets time pass while these nodes renew their Leases every ten seconds. */
  async live(seconds: number, ...names: readonly string[]): Promise<void> {
    for (let rest = seconds; rest > 0; rest -= 10) {
      await this.wait(Math.min(rest, 10));
      await this.renew(...names);
    }
  }

  async node(name: string): Promise<Node | undefined> {
    return (await this.find("nodes", name, "")) as Node | undefined;
  }

  async condition(name: string, type = "Ready"): Promise<NodeCondition | undefined> {
    const node = await this.node(name);
    return node && conditionOf(node, type);
  }

  /** The taints of a node as `key:effect`, without the common prefix of keys, in order. */
  async taints(name: string): Promise<string[]> {
    const taints = (await this.node(name))?.spec?.taints ?? [];
    return taints.map(({ key = "", effect }) => `${key.replace("node.kubernetes.io/", "")}:${effect}`);
  }

  /** Changes the taints of a node. */
  async taint(name: string, ...taints: readonly Taint[]): Promise<void> {
    await this.client.patch(this.resource("nodes"), { namespace: "", name }, { spec: { taints: [...taints] } });
  }

  /** Creates a Pod that runs on a node and is ready. */
  async addPod(name: string, nodeName: string, spec: JsonObject = {}): Promise<void> {
    await this.post("pods", name, { containers: [{ name: "main", image: "nginx" }], nodeName, ...spec });
    await this.setPod(name, "Running");
  }

  async pod(name: string): Promise<Pod | undefined> {
    return (await this.find("pods", name)) as Pod | undefined;
  }

  #microTime(): string {
    return printMicroTime(this.clock.now());
  }
}
