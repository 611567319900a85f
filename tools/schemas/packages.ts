import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GoField, type GoPackage, parseGoSource } from "./go-types.ts";
import { type FieldFacts, splitName, wireFormOf } from "./project.ts";
import { type ProtoTypeField, parseProtoMessages } from "./proto-types.ts";
import { goPackage, moduleFolder, type PublishedSchema, type Release } from "./sources.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const CORE = "io.k8s.api.core.v1";
const DISCOVERY = "io.k8s.api.apidiscovery.v2";
const METRICS = "io.k8s.metrics.pkg.apis.metrics.v1beta1";

/** Components that no OpenAPI document publishes but that travel or are stored in the binary form, or as parameters. */
export const EXTRA_COMPONENTS: readonly string[] = [
  ...["PartialObjectMetadata", "PartialObjectMetadataList", "List"].map((name) => `${META}.${name}`),
  ...["CreateOptions", "UpdateOptions", "PatchOptions", "GetOptions", "ListOptions"].map((name) => `${META}.${name}`),
  ...["PodAttachOptions", "PodExecOptions", "PodLogOptions", "PodPortForwardOptions"].map((name) => `${CORE}.${name}`),
  ...["NodeProxyOptions", "PodProxyOptions", "ServiceProxyOptions", "RangeAllocation"].map((name) => `${CORE}.${name}`),
  ...["APIGroupDiscoveryList", "APIGroupDiscovery", "APIVersionDiscovery"].map((name) => `${DISCOVERY}.${name}`),
  ...["APIResourceDiscovery", "APISubresourceDiscovery"].map((name) => `${DISCOVERY}.${name}`),
  ...["GroupVersionKind", "Duration"].map((name) => `${META}.${name}`),
  ...["NodeMetrics", "NodeMetricsList", "PodMetrics", "PodMetricsList"].map((name) => `${METRICS}.${name}`),
  `${METRICS}.ContainerMetrics`,
];

/** The API groups of packages whose kinds no document publishes. */
const UNPUBLISHED_GROUPS: Readonly<Record<string, string>> = { [METRICS]: "metrics.k8s.io" };

/** Finds the facts of a component package in the same release. */
export type PackageLookup = (componentPackage: string) => PackageFacts;

/** The Go structs and protobuf messages of one component package. */
export class PackageFacts {
  readonly name: string;
  readonly go: GoPackage;
  readonly messages: ReadonlyMap<string, readonly ProtoTypeField[]>;

  constructor(name: string, go: GoPackage, messages: ReadonlyMap<string, readonly ProtoTypeField[]>) {
    this.name = name;
    this.go = go;
    this.messages = messages;
  }

  /** The struct of that name, in this package or the one that the name is borrowed from. */
  struct(name: string, lookup: PackageLookup): { readonly owner: PackageFacts; readonly fields: readonly GoField[] } {
    const fields = this.go.structs.get(name);
    if (fields !== undefined) return { owner: this, fields };
    const alias = this.go.aliases.get(name);
    if (alias === undefined) throw new Error(`${this.name} has no struct ${name}`);
    const target = `io.k8s.${alias.slice("k8s.io/".length).replaceAll("/", ".")}`;
    const [targetPackage, targetName] = splitName(target);
    return lookup(targetPackage).struct(targetName, lookup);
  }

  /** Facts of all JSON fields of a struct in declaration order, those of embedded structs among them. */
  fieldsOf(name: string, published: PublishedSchema, lookup: PackageLookup): Map<string, FieldFacts> {
    const result = new Map<string, FieldFacts>();
    if (published.properties === undefined) return result;
    const { owner, fields } = this.struct(name, lookup);
    for (const field of fields) {
      const path = field.number === undefined ? [] : [field.number];
      if (field.json !== "") {
        const schema = published.properties[field.json];
        if (schema === undefined) throw new Error(`${this.name}.${name} does not publish ${field.json}`);
        const isWrapped = owner.#check(name, field, schema);
        const { isPointer, omitEmpty, omitZero } = field;
        result.set(field.json, { path, isPointer, omitEmpty, omitZero, isWrapped });
      } else if (/(?:^|\.)TypeMeta$/.test(field.goType)) {
        for (const member of ["kind", "apiVersion"]) {
          result.set(member, { path: [], isPointer: false, omitEmpty: true, omitZero: false, isWrapped: false });
        }
      } else {
        const embedded = owner.fieldsOf(field.goType, published, lookup);
        for (const [member, facts] of embedded) result.set(member, { ...facts, path: [...path, ...facts.path] });
      }
    }
    return result;
  }

  /** Compares the .proto file with what the published schema leads a codec to expect; true: lists are wrapped. */
  #check(struct: string, field: GoField, schema: PublishedSchema): boolean {
    if (field.number === undefined) return false;
    const proto = this.messages.get(struct)?.find((one) => one.number === field.number);
    if (proto === undefined) throw new Error(`${this.name}.${struct}.${field.json} is not in the .proto file`);
    const expected = protoTypeOf(schema);
    const actual = `${proto.label} ${this.#fullType(proto.type)}`;
    if (expected === actual) return false;
    const wrapper = this.messages.get(proto.type);
    const isWrapped = wrapper?.length === 1 && wrapper[0]?.number === 1 && wrapper[0].label === "repeated";
    if (isWrapped) return true;
    throw new Error(`${this.name}.${struct}.${field.json}: expected ${expected}, found ${actual}`);
  }

  #fullType(type: string): string {
    if (type.startsWith(".k8s.io.")) return `io.k8s.${type.slice(".k8s.io.".length)}`;
    return this.messages.has(type) ? `${this.name}.${type}` : type;
  }

  /** The shape of a message as OpenAPI would publish it, for components that no document holds. */
  publish(name: string, lookup: PackageLookup): PublishedSchema {
    const properties: Record<string, PublishedSchema> = {};
    for (const field of this.struct(name, lookup).fields) {
      if (field.json === "") {
        Object.assign(properties, { kind: { type: "string" }, apiVersion: { type: "string" } });
        continue;
      }
      const proto = this.messages.get(name)?.find((one) => one.number === field.number);
      if (proto === undefined) throw new Error(`${this.name}.${name}.${field.json} is not in the .proto file`);
      properties[field.json] = publishedField(proto.label, this.#fullType(proto.type), field);
    }
    return { type: "object", properties, ...this.#kindFacts(name, lookup) };
  }

  /** What a document would publish about a kind, or a part of one, besides its fields. */
  #kindFacts(name: string, lookup: PackageLookup): Partial<PublishedSchema> {
    const group = UNPUBLISHED_GROUPS[this.name];
    if (group === undefined) return {};
    const { fields } = this.struct(name, lookup);
    const required = fields.filter(({ json, omitEmpty }) => json !== "" && !omitEmpty).map(({ json }) => json);
    const [, version] = splitName(this.name);
    const isKind = fields.some(({ json, goType }) => json === "" && /(?:^|\.)TypeMeta$/.test(goType));
    return { required, ...(isKind && { "x-kubernetes-group-version-kind": [{ group, version, kind: name }] }) };
  }
}

const SCALARS: Readonly<Record<string, PublishedSchema>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  bytes: { type: "string", format: "byte" },
};

const ZERO: Readonly<Record<string, unknown>> = { string: "", bool: false, int32: 0, int64: 0 };

function publishedField(label: string, type: string, field: GoField): PublishedSchema {
  const scalar = SCALARS[type];
  const element = scalar ?? { allOf: [{ $ref: `#/components/schemas/${type}` }] };
  if (label === "repeated") return { type: "array", items: element };
  if (label === "map") return { type: "object", additionalProperties: element };
  const isOmitted = scalar === undefined ? wireFormOf(type) !== undefined : field.omitEmpty;
  if (field.isPointer || isOmitted) return element;
  return { ...element, default: scalar === undefined ? {} : ZERO[type] };
}

function protoTypeOf(schema: PublishedSchema): string {
  if (schema.items !== undefined) return `repeated ${elementType(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map ${elementType(schema.additionalProperties)}`;
  return `optional ${elementType(schema)}`;
}

function elementType(schema: PublishedSchema): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return reference.slice("#/components/schemas/".length);
  if (schema.type === "string") return schema.format === "byte" ? "bytes" : "string";
  if (schema.type === "boolean") return "bool";
  return schema.format ?? schema.type ?? "";
}

/** Reads the Go sources and the .proto file of a component package. */
export function readPackage(componentPackage: string, release: Release): PackageFacts {
  const { module, path } = goPackage(componentPackage);
  const folder = join(moduleFolder(module, release.modules), path);
  const go: GoPackage = { structs: new Map(), aliases: new Map() };
  for (const file of readdirSync(folder)) {
    if (!file.endsWith(".go") || file.endsWith("_test.go") || file.includes("generated")) continue;
    parseGoSource(readFileSync(join(folder, file), "utf8"), go);
  }
  const proto = join(folder, "generated.proto");
  return new PackageFacts(
    componentPackage,
    go,
    existsSync(proto) ? parseProtoMessages(readFileSync(proto, "utf8")) : new Map(),
  );
}

/** The shape of a component that is only described by Go and protobuf. */
export function schemaFromProto(component: string, lookup: PackageLookup): PublishedSchema {
  if (wireFormOf(component) !== undefined) return { type: "string" };
  const [componentPackage, name] = splitName(component);
  return lookup(componentPackage).publish(name, lookup);
}
