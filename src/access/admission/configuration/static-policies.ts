import type { KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import type { PolicyBindingSpec, PolicySpec } from "../../../kinds/types/admission-registration.ts";
import type { Resources } from "../../../resources/resources.ts";
import { isStaticName, readStaticManifests } from "./static-manifests.ts";

/** Policies and bindings from manifests. */
export interface StaticPolicies {
  readonly policies: readonly KubeObject[];
  readonly bindings: readonly KubeObject[];
  readonly hash: string;
}

/**
 * Reads the policies of a kind, and their bindings, from a folder. Throws an Error that names the file. Upstream:
 * `LoadPolicyManifests`.
 */
export async function readStaticPolicies(folder: string, kind: string, resources: Resources): Promise<StaticPolicies> {
  const binding = `${kind}Binding`;
  const problemOf = (object: KubeObject) => (object.kind === kind ? policyProblem(object) : bindingProblem(object));
  const { objects, hash } = await readStaticManifests(folder, { kinds: [kind, binding], problemOf }, resources);
  const policies = objects.filter((object) => object.kind === kind);
  const bindings = objects.filter((object) => object.kind === binding);
  const names = new Set(policies.map(({ metadata }) => metadata.name));
  for (const { metadata, spec } of bindings) {
    const { policyName = "" } = spec as PolicyBindingSpec;
    if (names.has(policyName)) continue;
    const missing = `references policy ${quote(policyName)} which does not exist in the manifest directory`;
    throw new Error(`binding ${quote(metadata.name ?? "")} ${missing}`);
  }
  return { policies, bindings, hash };
}

function policyProblem({ kind, metadata, spec }: KubeObject): string | undefined {
  if ((spec as PolicySpec).paramKind === undefined) return undefined;
  return `${kind} ${quote(metadata.name ?? "")}: spec.paramKind is not supported for static manifests`;
}

function bindingProblem({ metadata, spec }: KubeObject): string | undefined {
  const { policyName = "", paramRef } = spec as PolicyBindingSpec;
  const by = `binding ${quote(metadata.name ?? "")}`;
  if (!isStaticName(policyName)) return `${by}: spec.policyName ${quote(policyName)} must end with ".static.k8s.io"`;
  return paramRef === undefined ? undefined : `${by}: spec.paramRef is not supported for static manifests`;
}
