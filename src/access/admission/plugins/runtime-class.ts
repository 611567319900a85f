import { isDeepStrictEqual } from "node:util";
import { plainError } from "../../../base/api/api-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { getMember } from "../../../base/util/members.ts";
import { type PodSpec, podSpecOf, type Toleration } from "../../../kinds/types/pod.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** RuntimeClass: sets overhead, nodeSelector and tolerations of pods according to their runtimeClassName. */
export function runtimeClass(access: ObjectAccess): AdmissionPlugin {
  return {
    name: "RuntimeClass",
    handles: (request) => request.operation === "CREATE" && targets(request, "", "pods"),
    async mutate(request) {
      if (!request.object) return;
      const spec = podSpecOf(request.object);
      const found = await findClass(access, request, spec);
      if (!found) return;
      setOverhead(request, spec, found);
      if (isObject(found.scheduling)) setScheduling(request, spec, found.scheduling);
    },
    async validate(request) {
      if (!request.object) return;
      const spec = podSpecOf(request.object);
      const found = await findClass(access, request, spec);
      const fixed = found && overheadOf(found);
      if (fixed) {
        if (!isDeepStrictEqual(spec.overhead ?? {}, fixed)) throw refusal(request, MISMATCH);
      } else if (spec.overhead) {
        throw refusal(request, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead");
      }
    },
  };
}

async function findClass(
  access: ObjectAccess,
  request: AdmissionRequest,
  { runtimeClassName: name }: PodSpec,
): Promise<KubeObject | undefined> {
  if (name === undefined) return undefined;
  if (name === "") throw plainError(500, "resource name may not be empty");
  const problems = pathSegment(name);
  // Compat: upstream's plugin gets the RuntimeClass through a client, which fails with 500 "invalid resource name" if
  // the name cannot be a path segment.
  if (problems.length > 0) throw plainError(500, `invalid resource name ${quote(name)}: [${problems.join(" ")}]`);
  const found = await access.find("node.k8s.io", "runtimeclasses", { namespace: "", name });
  if (!found) throw refusal(request, `pod rejected: RuntimeClass ${quote(name)} not found`);
  return found;
}

/** `overhead.podFixed` of a RuntimeClass. Undefined if it has no overhead. */
function overheadOf({ overhead }: KubeObject): { [name: string]: string } | undefined {
  if (!isObject(overhead)) return undefined;
  return (isObject(overhead.podFixed) ? overhead.podFixed : {}) as { [name: string]: string };
}

function setOverhead(request: AdmissionRequest, spec: PodSpec, found: KubeObject): void {
  const fixed = overheadOf(found);
  if (!fixed) return;
  const given = spec.overhead ?? {};
  if (Object.keys(given).length > 0 && !isDeepStrictEqual(given, fixed)) throw refusal(request, MISMATCH);
  if (Object.keys(fixed).length > 0) spec.overhead = { ...fixed };
  else delete spec.overhead;
}

function setScheduling(request: AdmissionRequest, spec: PodSpec, scheduling: JsonObject): void {
  const selector = { ...spec.nodeSelector };
  for (const [key, wanted] of Object.entries(isObject(scheduling.nodeSelector) ? scheduling.nodeSelector : {})) {
    const given = getMember(selector, key);
    if (given !== undefined && given !== wanted) {
      const text = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${String(wanted)}; pod.spec.nodeSelector[${key}] = ${given}`;
      throw refusal(request, text);
    }
    selector[key] = String(wanted);
  }
  if (Object.keys(selector).length > 0) {
    spec.nodeSelector = Object.fromEntries(Object.entries(selector).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
  const added = Array.isArray(scheduling.tolerations) ? scheduling.tolerations : [];
  const merged = mergeTolerations([...(spec.tolerations ?? []), ...added.map(asToleration)]);
  if (merged.length > 0) spec.tolerations = merged;
}

const asToleration = (value: Json): Toleration => (isObject(value) ? { ...value } : {});

/** Removes tolerations that another one covers. Of equal ones the first stays. */
function mergeTolerations(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  for (const [index, one] of all.entries()) {
    if (merged.some((other) => covers(other, one))) continue;
    const isCovered = all.slice(index + 1).some((other) => !isDeepStrictEqual(other, one) && covers(other, one));
    if (!isCovered) merged.push(one);
  }
  return merged;
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isDeepStrictEqual(wide, narrow)) return true;
  const { key = "", operator = "", effect = "" } = wide;
  if ((narrow.key ?? "") !== key && (key !== "" || operator !== "Exists")) return false;
  if ((narrow.effect ?? "") !== effect && effect !== "") return false;
  if (effect === "NoExecute" && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (operator === "Exists") return true;
  if (operator !== "" && operator !== "Equal") return false;
  return narrow.operator === "Equal" && (narrow.value ?? "") === (wide.value ?? "");
}
