import { parseQuantity } from "../../../base/api/quantity.ts";
import { roundUp } from "../../../base/api/resource-amounts.ts";
import type { Node } from "../../../kinds/types/node.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ContainerUsage } from "../../../serving/connect/handlers/container-functions.ts";
import type { PodContainer } from "../pods/containers.ts";

/** What a container uses: billionths of a processor, and bytes. */
export interface UsageAmounts {
  readonly cpu: bigint;
  readonly memory: bigint;
}

/** A container whose usage is wanted. */
export interface MeasuredContainer extends PodContainer {
  readonly node: Node;
  readonly pod: Pod;
}

/** Tells what a container uses, as quantities. Resources may be missing. May throw. */
export type UsageSource = (container: MeasuredContainer) => ContainerUsage | undefined;

type Resource = keyof UsageAmounts;

/** Decimal places that are kept. */
const PLACES: Readonly<Record<Resource, number>> = { cpu: 9, memory: 0 };
const ANNOTATIONS: Readonly<Record<Resource, string>> = {
  cpu: "kwok.x-k8s.io/usage-cpu",
  memory: "kwok.x-k8s.io/usage-memory",
};
/** Upstream: `usage-from-annotation.yaml` of KWOK */
const DEFAULT: Required<ContainerUsage> = { cpu: "1m", memory: "1Mi" };

/** The usage of containers: the first of several sources that knows a resource decides. */
export class ContainerUsages {
  readonly #sources: readonly UsageSource[];

  constructor(sources: readonly UsageSource[]) {
    this.#sources = [...sources, fromAnnotations, () => DEFAULT];
  }

  /**
   * The usage of running containers of a Pod. Undefined if that of one is not known: like metrics-server, which then has
   * no metrics of the Pod.
   */
  ofPod(node: Node, pod: Pod, containers: readonly PodContainer[]): Map<string, UsageAmounts> | undefined {
    const found = new Map<string, UsageAmounts>();
    try {
      for (const one of containers) {
        const measured = { ...one, node, pod };
        found.set(one.name, { cpu: this.#amount(measured, "cpu"), memory: this.#amount(measured, "memory") });
      }
    } catch {
      return undefined;
    }
    return found;
  }

  #amount(container: MeasuredContainer, resource: Resource): bigint {
    for (const source of this.#sources) {
      const text = source(container)?.[resource];
      if (text === undefined) continue;
      return amountOf(text, PLACES[resource]);
    }
    return 0n;
  }
}

/** More would not fit into the numbers of a kubelet. */
const MAX = 2n ** 63n - 1n;
const MAX_DIGITS = MAX.toString().length;

function amountOf(text: string, places: number): bigint {
  const quantity = parseQuantity(text);
  const amount = quantity.exponent + places > MAX_DIGITS ? quantity.mantissa * MAX : roundUp(quantity, places);
  return amount < 0n ? 0n : amount > MAX ? MAX : amount;
}

const fromAnnotations: UsageSource = ({ pod: { metadata } }) => ({
  cpu: metadata.annotations?.[ANNOTATIONS.cpu],
  memory: metadata.annotations?.[ANNOTATIONS.memory],
});
