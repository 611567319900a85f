import { type FieldError, forbiddenField, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import type { Container } from "../../../types/container.ts";
import type { NodeAffinity, NodeSelectorTerm, PodSchedulingGate, PodSpec, Toleration } from "../../../types/pod.ts";
import { rangeMessage } from "../../shared-rules/formats.ts";
import { asGo, type GoShape } from "../../shared-rules/go-print.ts";
import { sameValue } from "../../shared-rules/immutable.ts";
import { printDifferences } from "../../shared-rules/print-differences.ts";
import { checkImageBlanks } from "./pod-containers-validation.ts";
import type { PodOptions } from "./pod-options.ts";
import { validateTolerations } from "./scheduling-validation.ts";

const UPDATABLE = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");
const MAX_DEADLINE = 2 ** 31 - 1;

/** Validates that only mutable fields of a PodSpec have changed. Upstream: `ValidatePodUpdate`. */
export function validatePodSpecUpdate(
  errors: FieldError[],
  next: PodSpec,
  previous: PodSpec,
  options: PodOptions,
): void {
  for (const member of ["containers", "initContainers"] as const) {
    if (!checkSameContainers(errors, next[member] ?? [], previous[member] ?? [], `spec.${member}`)) return;
  }
  if (!checkDeadline(errors, next.activeDeadlineSeconds, previous.activeDeadlineSeconds)) return;
  checkTolerations(errors, next.tolerations ?? [], previous.tolerations ?? [], options);
  checkGates(errors, next.schedulingGates ?? [], previous.schedulingGates ?? []);
  if (sameValue(next, previous)) return;
  const rest = withoutUpdatable(next, previous);
  if ((previous.schedulingGates ?? []).length > 0) checkGatedChanges(errors, rest, previous);
  if (sameValue(rest, previous)) return;
  const text = `pod updates may not change fields other than ${UPDATABLE}\n${printDifferences(previous, rest)}`;
  errors.push(forbiddenField("spec", text));
}

function checkSameContainers(
  errors: FieldError[],
  next: readonly Container[],
  previous: readonly Container[],
  path: string,
): boolean {
  if (next.length !== previous.length) {
    errors.push(forbiddenField(path, "pod updates may not add or remove containers"));
    return false;
  }
  for (const [index, container] of next.entries()) {
    if ((container.image ?? "") === "") errors.push(requiredField(`${path}[${index}].image`));
    checkImageBlanks(errors, container, `${path}[${index}]`);
  }
  return true;
}

function checkDeadline(errors: FieldError[], next: number | undefined, previous: number | undefined): boolean {
  const path = "spec.activeDeadlineSeconds";
  if (next === undefined) {
    if (previous !== undefined) {
      errors.push(invalidField(path, undefined, "must not update from a positive integer to nil value"));
    }
    return true;
  }
  if (next < 0 || next > MAX_DEADLINE) {
    errors.push(invalidField(path, next, rangeMessage(0, MAX_DEADLINE)));
    return false;
  }
  if (previous === undefined || next <= previous) return true;
  errors.push(invalidField(path, next, "must be less than or equal to previous value"));
  return false;
}

/** A key that two Tolerations share if they only differ in `tolerationSeconds`. */
function tolerated({ key = "", operator = "", value = "", effect = "" }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

function checkTolerations(
  errors: FieldError[],
  next: readonly Toleration[],
  previous: readonly Toleration[],
  options: PodOptions,
): void {
  const kept = new Set(next.map(tolerated));
  for (const old of previous) {
    if (kept.has(tolerated(old))) continue;
    const text = "existing toleration can not be modified except its tolerationSeconds";
    errors.push(forbiddenField("spec.tolerations", text));
    return;
  }
  validateTolerations(errors, next, "spec.tolerations", options);
}

function checkGates(
  errors: FieldError[],
  next: readonly PodSchedulingGate[],
  previous: readonly PodSchedulingGate[],
): void {
  const known = new Set(previous.map(({ name = "" }) => name));
  // Compat: for `schedulingGates` with the same name the error has the index of the last, since upstream collects them
  // in a map.
  const added = new Map(next.map(({ name = "" }, index) => [name, index]));
  for (const [name, index] of added) {
    if (known.has(name)) continue;
    const text = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push(forbiddenField(`spec.schedulingGates[${index}].name`, text));
  }
}

/** The new PodSpec with the previous values of all mutable fields. */
function withoutUpdatable(next: PodSpec, previous: PodSpec): PodSpec {
  const rest = cloneJson(next);
  for (const member of ["containers", "initContainers"] as const) {
    for (const [index, container] of (rest[member] ?? []).entries()) {
      const image = previous[member]?.[index]?.image;
      if (image === undefined) delete container.image;
      else container.image = image;
    }
  }
  for (const member of ["activeDeadlineSeconds", "schedulingGates", "tolerations"] as const) {
    const old = previous[member];
    if (old === undefined) delete rest[member];
    else Object.assign(rest, { [member]: old });
  }
  if ((previous.terminationGracePeriodSeconds ?? 0) < 0 && rest.terminationGracePeriodSeconds === 1) {
    rest.terminationGracePeriodSeconds = previous.terminationGracePeriodSeconds;
  }
  return rest;
}

/**
 * Allows nodeSelector and nodeAffinity of a pod with schedulingGates to be narrowed. Restores the previous values in
 * `rest`.
 */
function checkGatedChanges(errors: FieldError[], rest: PodSpec, previous: PodSpec): void {
  if (!sameValue(rest.nodeSelector, previous.nodeSelector)) {
    const { nodeSelector = {} } = rest;
    const isNarrowed = Object.entries(previous.nodeSelector ?? {}).every(([key, value]) => nodeSelector[key] === value);
    if (!isNarrowed) {
      const text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
      errors.push(invalidField("spec.nodeSelector", rest.nodeSelector, text));
    }
    if (previous.nodeSelector) rest.nodeSelector = previous.nodeSelector;
    else delete rest.nodeSelector;
  }
  const old = previous.affinity?.nodeAffinity;
  const wanted = rest.affinity?.nodeAffinity;
  if (sameValue(old, wanted)) return;
  checkNodeAffinity(errors, wanted, old);
  if (!rest.affinity) {
    if (old) rest.affinity = { nodeAffinity: old };
  } else if (!previous.affinity && !rest.affinity.podAffinity && !rest.affinity.podAntiAffinity) {
    delete rest.affinity;
  } else if (old) {
    rest.affinity.nodeAffinity = old;
  } else {
    delete rest.affinity.nodeAffinity;
  }
}

const REQUIREMENT_SHAPE: GoShape = [
  ["Key", "key", ""],
  ["Operator", "operator", ""],
  ["Values", "values"],
];
const TERM_SHAPE: GoShape = [
  ["MatchExpressions", "matchExpressions", null, REQUIREMENT_SHAPE],
  ["MatchFields", "matchFields", null, REQUIREMENT_SHAPE],
];

function checkNodeAffinity(
  errors: FieldError[],
  next: NodeAffinity | undefined,
  previous: NodeAffinity | undefined,
): void {
  const path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const oldTerms = previous?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const terms = next?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (oldTerms.length > 0 && oldTerms.length !== (terms ?? []).length) {
    const text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
    errors.push(invalidField(path, asGo(terms, TERM_SHAPE), text));
    return;
  }
  for (const [index, old] of oldTerms.entries()) {
    const term = terms?.[index] ?? {};
    if (isNarrowed(term, old)) continue;
    const text = "only additions are allowed (no mutations or deletions)";
    errors.push(invalidField(`${path}[${index}]`, asGo(term, TERM_SHAPE), text));
  }
}

function isNarrowed(next: NodeSelectorTerm, previous: NodeSelectorTerm): boolean {
  const { matchExpressions = [], matchFields = [] } = next;
  const { matchExpressions: oldExpressions = [], matchFields: oldFields = [] } = previous;
  // Compat: a NodeSelectorTerm without matchExpressions and matchFields matches nothing, so adding one would widen it.
  if (oldExpressions.length + oldFields.length === 0) return matchExpressions.length + matchFields.length === 0;
  return (
    sameValue(matchExpressions.slice(0, oldExpressions.length), oldExpressions) &&
    sameValue(matchFields.slice(0, oldFields.length), oldFields)
  );
}
