import type { Column } from "../../../base/api/columns.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import { addQuantities, parseQuantity, printQuantity } from "../../../base/api/quantity.ts";
import type { ResourceDefinition, Verb } from "../../../resources/model/definition.ts";
import { NAME, read, readObjects, text } from "../cells.ts";
import { defineKinds, type Row } from "../row.ts";

/** The columns of metrics-server: its names are those of resources. */
function columns(usage: (object: KubeObject, resource: string) => string): readonly Column[] {
  const quantity = (name: string): Column => {
    return { name, type: "string", format: "quantity", description: "", cell: (object) => usage(object, name) };
  };
  const name = { ...NAME, description: "Name of the resource" };
  const window: Column = { name: "Window", type: "string", format: "duration", description: "", cell: text(".window") };
  return [name, quantity("cpu"), quantity("memory"), window];
}

function sumOfContainers(object: KubeObject, resource: string): string {
  const amounts = readObjects(object, ".containers").map((one) =>
    parseQuantity(String(read(one, `.usage.${resource}`))),
  );
  return printQuantity(amounts.reduce(addQuantities, parseQuantity("0")));
}

const verbs: readonly Verb[] = ["get", "list"];
// Compat: `GetSingularName` of metrics-server returns an empty text.
const common = { singular: "", versions: ["v1beta1"], verbs, storage: "none" } as const satisfies Partial<Row>;

/** The kinds of metrics.k8s.io: what nodes and Pods use. */
export const metricsKinds: ResourceDefinition[] = defineKinds(
  { group: "metrics.k8s.io", schemaPackage: "io.k8s.metrics.pkg.apis.metrics", isAddOn: true },
  [
    {
      ...common,
      kind: "NodeMetrics",
      plural: "nodes",
      scope: "Cluster",
      columns: columns((node, resource) => String(read(node, `.usage.${resource}`))),
      actions: { compute: "nodeMetrics" },
    },
    {
      ...common,
      kind: "PodMetrics",
      plural: "pods",
      columns: columns(sumOfContainers),
      actions: { compute: "podMetrics" },
    },
  ],
);
