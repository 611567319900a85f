import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { parseBool } from "../../../base/go/parse-bool.ts";
import type { Container } from "../../../kinds/types/container.ts";
import type { PodSpec } from "../../../kinds/types/pod.ts";
import { podSecretNames } from "../../../kinds/types/pod-secret-names.ts";

const ENFORCE = "kubernetes.io/enforce-mountable-secrets";

/** Whether a ServiceAccount has the annotation kubernetes.io/enforce-mountable-secrets. */
export function limitsSecrets({ metadata }: KubeObject): boolean {
  return parseBool(metadata.annotations?.[ENFORCE] ?? "") === true;
}

/** The error for a Secret that a pod uses although its ServiceAccount does not list it. Undefined if there is none. */
export function secretProblem(spec: PodSpec, account: KubeObject): string | undefined {
  const allowed = namesIn(account.secrets);
  const who = account.metadata.name ?? "";
  const ending = `is not allowed because service account ${who} does not reference that`;
  for (const { secret } of spec.volumes ?? []) {
    const name = isObject(secret) ? String(secret.secretName ?? "") : undefined;
    if (name !== undefined && !allowed.has(name)) return `volume with secret.secretName="${name}" ${ending} secret`;
  }
  const problem =
    firstProblem("init container", spec.initContainers, allowed, ending) ??
    firstProblem("container", spec.containers, allowed, ending);
  if (problem !== undefined) return problem;
  const pullable = namesIn(account.imagePullSecrets);
  for (const [index, { name = "" }] of (spec.imagePullSecrets ?? []).entries()) {
    if (!pullable.has(name)) return `imagePullSecrets[${index}].name="${name}" ${ending} imagePullSecret`;
  }
  return undefined;
}

/** The same for ephemeralContainers. */
export function ephemeralSecretProblem(spec: PodSpec, account: KubeObject): string | undefined {
  const who = account.metadata.name ?? "";
  const ending = `is not allowed because service account ${who} does not reference that`;
  return firstProblem("ephemeral container", spec.ephemeralContainers, namesIn(account.secrets), ending);
}

function namesIn(list: unknown): Set<string> {
  const named = Array.isArray(list) ? list.filter(isObject) : [];
  return new Set(named.map(({ name }) => String(name ?? "")));
}

function firstProblem(
  title: string,
  containers: readonly Container[] = [],
  allowed: ReadonlySet<string>,
  ending: string,
): string | undefined {
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef;
      if (!secret || allowed.has(secret.name ?? "")) continue;
      return `${title} ${name} with envVar ${variable} referencing secret.secretName="${secret.name ?? ""}" ${ending} secret`;
    }
    for (const { secretRef } of envFrom) {
      if (!secretRef || allowed.has(secretRef.name ?? "")) continue;
      return `${title} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ""}" ${ending} secret`;
    }
  }
  return undefined;
}

/** Whether a pod refers to any Secret by name. */
export function referencesSecrets(spec: PodSpec): boolean {
  return podSecretNames(spec).size > 0;
}
