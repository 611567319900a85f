import type { KubeObject } from "../../src/base/api/object.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import { builtInSchema } from "../../src/kinds/schema-files/built-in-schemas.ts";
import type { ResourceDefinition, ServedVersion } from "../../src/resources/model/definition.ts";
import { withObjectMembers } from "../../src/resources/strategies/object-members.ts";

/** The group of the kind that these tests add at run time. */
export const GROUP = "stable.example.com";

/** The namespaced collection of widgets in one version. */
export const widgetsPath = (version: string) => `/apis/${GROUP}/${version}/namespaces/default/widgets`;

const object = (properties: Record<string, Schema>): Schema => ({
  type: "object",
  properties: new Map(Object.entries(properties)),
});

function serveVersion(name: string, spec: Record<string, Schema>, field: string): ServedVersion {
  const objectMeta = builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const schema = withObjectMembers(object({ spec: object(spec) }), objectMeta);
  const value = ({ spec }: KubeObject) => String((spec as Record<string, unknown> | undefined)?.[field] ?? "");
  return {
    name,
    schema: () => schema,
    schemaName: `com.example.stable.${name}.Widget`,
    table: { columns: [] },
    selectableFields: [{ name: `spec.${field}`, value }],
  };
}

/** A kind that is stored as v1, with `spec.size`, and also served as v2, with `spec.count`. */
export function widgets(
  convertBatch: (objects: readonly KubeObject[], toApiVersion: string) => Promise<readonly KubeObject[]>,
  more: Record<string, Schema> = {},
): ResourceDefinition {
  const common: Record<string, Schema> = { color: { type: "string", default: "red" }, ...more };
  return {
    group: GROUP,
    kind: "Widget",
    listKind: "WidgetList",
    plural: "widgets",
    singular: "widget",
    shortNames: [],
    categories: [],
    scope: "Namespaced",
    verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    reading: "structural",
    versions: [
      serveVersion("v1", { size: { type: "integer" }, ...common }, "size"),
      serveVersion("v2", { count: { type: "integer" }, ...common }, "count"),
    ],
    storage: { version: "v1", prefix: `${GROUP}/widgets`, hash: "" },
    subresources: {},
    rules: { generation: "counted", createsOnUpdate: false, deleteReturnsObject: false },
    hooks: { convertBatch },
  };
}

/** A converter that responds when the test allows it, and records its calls. */
export class LateConverter {
  /** The number of objects of each call. */
  readonly batches: number[] = [];
  /** If set, calls fail with it. */
  failure: Error | undefined;
  #gate: PromiseWithResolvers<void> | undefined;
  #asked = Promise.withResolvers<void>();

  readonly convert = async (objects: readonly KubeObject[], toApiVersion: string): Promise<readonly KubeObject[]> => {
    this.batches.push(objects.length);
    this.#asked.resolve();
    await this.#gate?.promise;
    if (this.failure) throw this.failure;
    const [from, to] = toApiVersion.endsWith("/v1") ? (["count", "size"] as const) : (["size", "count"] as const);
    return objects.map((one) => {
      const { [from]: number, ...rest } = (one.spec ?? {}) as Record<string, number | string>;
      return { ...one, apiVersion: toApiVersion, spec: number === undefined ? rest : { ...rest, [to]: number } };
    });
  };

  /** Blocks responses from now on. Resolves at the next call. */
  hold(): Promise<void> {
    this.#gate = Promise.withResolvers();
    this.#asked = Promise.withResolvers();
    return this.#asked.promise;
  }

  release(): void {
    this.#gate?.resolve();
    this.#gate = undefined;
  }
}
