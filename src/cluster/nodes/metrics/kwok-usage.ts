import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { parseQuantity, printQuantity } from "../../../base/api/quantity.ts";
import { getMember } from "../../../base/util/members.ts";
import type { ContainerUsage } from "../../../serving/connect/handlers/container-functions.ts";
import { keyOf } from "../../controllers/shared/informer.ts";
import { KwokCel, type KwokCelContext, numberOf } from "../kwok/cel.ts";
import type { MeasuredContainer, UsageSource } from "./container-usage.ts";

/** ResourceUsageContainer of kwok.x-k8s.io/v1alpha1. */
interface UsageSpec extends JsonObject {
  containers?: string[];
  usage?: { [resource: string]: { value?: string | number; expression?: string } };
}

/** ResourceUsage and ClusterResourceUsage of kwok.x-k8s.io/v1alpha1. */
interface UsageObject extends KubeObject {
  spec: {
    selector?: { matchNamespaces?: string[]; matchNames?: string[] };
    usages?: UsageSpec[];
  };
}

type Amount = (container: MeasuredContainer) => string;

interface Usage {
  readonly containers: readonly string[];
  readonly amounts: ReadonlyMap<keyof ContainerUsage, Amount>;
}

/** A ResourceUsage or ClusterResourceUsage whose expressions are compiled. */
export interface KwokUsage {
  /** `namespace/name` of the only Pod that it is about, if it is a ResourceUsage. */
  readonly pod: string;
  isAbout(container: MeasuredContainer): boolean;
  /** What one of its containers uses. Undefined if it does not say. May throw. */
  of(container: MeasuredContainer): ContainerUsage | undefined;
}

/** Reads ResourceUsages, which have the name of their Pod, and ClusterResourceUsages. Throws if they are malformed. */
export class KwokUsageReader {
  readonly #cel: KwokCel;

  constructor(context: KwokCelContext) {
    const core = (kind: string) => `io.k8s.api.core.v1.${kind}`;
    this.#cel = new KwokCel(context, { node: core("Node"), pod: core("Pod"), container: core("Container") });
  }

  ofPod(object: KubeObject): KwokUsage {
    return this.#usage(object as UsageObject, () => true);
  }

  ofCluster(object: KubeObject): KwokUsage {
    const { selector = {} } = (object as UsageObject).spec;
    // Upstream: ObjectSelector.Match
    const { matchNamespaces = [], matchNames = [] } = selector;
    const isIn = (list: readonly string[], text = "") => list.length === 0 || list.includes(text);
    return this.#usage(
      object as UsageObject,
      ({ metadata }) => isIn(matchNamespaces, metadata.namespace) && isIn(matchNames, metadata.name),
    );
  }

  #usage({ metadata, spec: { usages = [] } }: UsageObject, isAbout: (pod: KubeObject) => boolean): KwokUsage {
    const all = usages.map((one) => this.#amounts(one));
    // Upstream: findUsageInUsages
    const find = (name: string) =>
      all.find(({ containers }) => containers.includes(name)) ?? all.find(({ containers }) => containers.length === 0);
    return {
      pod: keyOf({ metadata }),
      isAbout: ({ pod, name }) => isAbout(pod) && find(name) !== undefined,
      of: (container) => {
        const amounts = find(container.name)?.amounts;
        return { cpu: amounts?.get("cpu")?.(container), memory: amounts?.get("memory")?.(container) };
      },
    };
  }

  #amounts({ containers = [], usage = {} }: UsageSpec): Usage {
    const amounts = new Map<keyof ContainerUsage, Amount>();
    for (const resource of ["cpu", "memory"] as const) {
      const wanted = getMember(usage, resource);
      if (isObject(wanted)) amounts.set(resource, this.#amount(wanted));
    }
    return { containers, amounts };
  }

  #amount({ value, expression }: { value?: string | number; expression?: string }): Amount {
    if (value !== undefined) {
      const text = printQuantity(parseQuantity(String(value)));
      return () => text;
    }
    if (typeof expression !== "string") return () => "0";
    const evaluate = this.#cel.compile(expression);
    return ({ node, pod, container }) => {
      const amount = numberOf(evaluate({ node: { ...node }, pod: { ...pod }, container: { ...container } }));
      if (!Number.isFinite(amount)) throw new Error("the expression yields no finite number");
      return `${BigInt(Math.round(amount * 1e9))}n`;
    };
  }
}

/** The usage that KWOK's objects describe: a ResourceUsage of the Pod, else the first ClusterResourceUsage. */
export function kwokUsage(ofPods: () => readonly KwokUsage[], ofCluster: () => readonly KwokUsage[]): UsageSource {
  let known: readonly KwokUsage[] = [];
  let byPod = new Map<string, KwokUsage>();
  return (container) => {
    const current = ofPods();
    if (current !== known) byPod = new Map(current.map((usage) => [usage.pod, usage]));
    known = current;
    const isAbout = (usage: KwokUsage | undefined) => usage?.isAbout(container);
    const own = byPod.get(keyOf(container.pod));
    return (isAbout(own) ? own : ofCluster().find(isAbout))?.of(container);
  };
}
