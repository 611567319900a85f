import type { KubeObject } from "../../../base/api/object.ts";
import { KwokCel } from "../kwok/cel.ts";
import { KwokList } from "../kwok/kwok-list.ts";
import type { NodesContext } from "../nodes-context.ts";
import { Stage } from "./stage.ts";
import { isStageFunction } from "./stage-functions.ts";
import type { StageObject } from "./stage-types.ts";

interface StageOfKind {
  /** apiVersion and kind, such as `v1/Pod`. */
  readonly kind: string;
  readonly stage: Stage;
}

/** Kinds that KWOK knows the Go types of. Stages of others see JSON. */
const TYPES: Readonly<Record<string, string>> = {
  "v1/Pod": "io.k8s.api.core.v1.Pod",
  "v1/Node": "io.k8s.api.core.v1.Node",
};

const NO_STAGES: readonly Stage[] = [];

/** The Stages of KWOK by the kinds that they are about. */
export class StageBook {
  readonly list: KwokList<StageOfKind>;
  #byKind: ReadonlyMap<string, readonly Stage[]> = new Map();

  /** `changed` is called when the Stages have changed. */
  constructor({ resources, report }: Pick<NodesContext, "resources" | "report">, changed: () => void) {
    const cels = new Map<string, KwokCel>();
    const read = (object: KubeObject): StageOfKind => {
      const { apiGroup = "v1", kind = "" } = (object as StageObject).spec.resourceRef ?? {};
      const name = `${apiGroup === "" ? "v1" : apiGroup}/${kind}`;
      const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
      const cel = cels.get(type ?? "") ?? new KwokCel(resources, { self: type });
      cels.set(type ?? "", cel);
      const patchType = type === undefined ? "merge" : "strategic";
      const context = { isKnownFunction: isStageFunction, cel, patchType } as const;
      return { kind: name, stage: new Stage(object as StageObject, context) };
    };
    this.list = new KwokList({
      ...{ resources, report, kind: "Stage", plural: "stages", read },
      changed: () => {
        const grouped = Map.groupBy(this.list.all, ({ kind }) => kind);
        this.#byKind = new Map([...grouped].map(([kind, all]) => [kind, all.map(({ stage }) => stage)]));
        changed();
      },
    });
  }

  /** The Stages of a kind such as `v1/Pod`, by name. The same array until a Stage changes. */
  of(kind: string): readonly Stage[] {
    return this.#byKind.get(kind) ?? NO_STAGES;
  }
}
