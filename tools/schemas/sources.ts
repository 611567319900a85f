import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One release of the published sources: the modules are numbered in step. */
export interface Release {
  readonly kubernetes: string;
  readonly modules: string;
  /** Group-version documents taken from this release. Absent: all of them. */
  readonly documents?: readonly string[];
}

/** Newest first. A component is taken from the first release that has it; older ones only add versions since removed. */
export const RELEASES: readonly Release[] = [
  { kubernetes: "v1.37.1", modules: "v0.37.1" },
  {
    kubernetes: "v1.36.4",
    modules: "v0.36.4",
    documents: [
      "apis__certificates.k8s.io__v1alpha1",
      "apis__networking.k8s.io__v1beta1",
      "apis__scheduling.k8s.io__v1alpha2",
      "apis__storage.k8s.io__v1beta1",
    ],
  },
  { kubernetes: "v1.35.8", modules: "v0.35.8", documents: ["apis__scheduling.k8s.io__v1alpha1"] },
];

/** A published schema, as far as the projection reads it. */
export interface PublishedSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, PublishedSchema>>;
  readonly required?: readonly string[];
  readonly items?: PublishedSchema;
  readonly additionalProperties?: PublishedSchema;
  readonly allOf?: readonly PublishedSchema[];
  readonly oneOf?: readonly PublishedSchema[];
  readonly $ref?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

/** The folder of a module of the Go module proxy, downloaded when it is not there yet. */
export function moduleFolder(module: string, version: string): string {
  const output = execFileSync("go", ["mod", "download", "-json", `${module}@${version}`], { encoding: "utf8" });
  const { Dir } = JSON.parse(output) as { Dir?: string };
  if (Dir === undefined) throw new Error(`${module}@${version} has no folder`);
  return Dir;
}

/** All component schemas that a release publishes in the documents we take from it, by name. */
export function publishedComponents(release: Release): Map<string, PublishedSchema> {
  const folder = join(moduleFolder("k8s.io/kubernetes", release.kubernetes), "api/openapi-spec/v3");
  const components = new Map<string, PublishedSchema>();
  for (const file of readdirSync(folder).sort()) {
    const document = file.replace(/_openapi\.json$/, "");
    if (release.documents !== undefined && !release.documents.includes(document)) continue;
    const { components: parts } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
      components?: { schemas?: Record<string, PublishedSchema> };
    };
    for (const [name, schema] of Object.entries(parts?.schemas ?? {})) components.set(name, schema);
  }
  return components;
}

const ROOTS: readonly (readonly [prefix: string, module: string])[] = [
  ["io.k8s.apimachinery", "k8s.io/apimachinery"],
  ["io.k8s.apiextensions-apiserver", "k8s.io/apiextensions-apiserver"],
  ["io.k8s.kube-aggregator", "k8s.io/kube-aggregator"],
  ["io.k8s.metrics", "k8s.io/metrics"],
  ["io.k8s.api", "k8s.io/api"],
];

/** The Go package that a component package comes from: `io.k8s.api.core.v1` → `k8s.io/api`, `core/v1`. */
export function goPackage(componentPackage: string): { readonly module: string; readonly path: string } {
  for (const [prefix, module] of ROOTS) {
    if (componentPackage.startsWith(`${prefix}.`)) {
      return { module, path: componentPackage.slice(prefix.length + 1).replaceAll(".", "/") };
    }
  }
  throw new Error(`no module is known for ${componentPackage}`);
}
