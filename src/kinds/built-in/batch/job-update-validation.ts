import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { Json, KubeObject, ObjectMeta } from "../../../base/api/object.ts";
import type { Container } from "../../types/container.ts";
import type { Affinity, PodSpec } from "../../types/pod.ts";
import { memberOf, type PodTemplate } from "../apps/workload.ts";
import { isConditionTrue } from "../cells.ts";
import { internalForm } from "../core/pod/internal-form.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { immutable, sameValue } from "../shared-rules/immutable.ts";
import { orderedSelector } from "../shared-rules/label-selector.ts";
import { POD_FAILURE_POLICY, SUCCESS_POLICY } from "./go-shapes.ts";
import type { JobSpec, JobStatus } from "./job-types.ts";

/** Validates fields of a JobSpec that are immutable, or immutable unless the Job is suspended. */
export function validateJobChange(next: KubeObject, previous: KubeObject): FieldError[] {
  const spec = memberOf<JobSpec>(next, "spec");
  const before = memberOf<JobSpec>(previous, "spec");
  const fixed = (member: string, print?: (value: Json | undefined) => unknown) =>
    immutable(spec[member], before[member], `spec.${member}`, print);
  return [
    ...validateCompletions(spec, before),
    ...fixed("selector", orderedSelector),
    ...validateTemplateChange(spec, previous),
    ...fixed("completionMode"),
    ...fixed("podFailurePolicy", (value) => asGo(value, POD_FAILURE_POLICY)),
    ...fixed("backoffLimitPerIndex"),
    ...fixed("managedBy"),
    ...fixed("successPolicy", (value) => asGo(value, SUCCESS_POLICY)),
  ];
}

function validateCompletions(spec: JobSpec, before: JobSpec): FieldError[] {
  const { completions, parallelism } = spec;
  if (spec.completionMode !== "Indexed") return immutable(completions, before.completions, "spec.completions");
  if (completions === before.completions || completions === undefined || completions === parallelism) return [];
  return [invalidField("spec.completions", completions, "can only be modified in tandem with spec.parallelism")];
}

/** Whether the Job is suspended and has no active pods, so that its template may change. */
function isAtRest(job: KubeObject): boolean {
  const { startTime, active = 0 } = memberOf<JobStatus>(job, "status");
  const { suspend } = memberOf<JobSpec>(job, "spec");
  return suspend === true && (startTime === undefined || isConditionTrue(job, "Suspended")) && active === 0;
}

function validateTemplateChange(spec: JobSpec, previous: KubeObject): FieldError[] {
  const { template = {} } = spec;
  const { template: before = {} } = memberOf<JobSpec>(previous, "spec");
  if (!isAtRest(previous)) {
    return immutable(template, before, "spec.template", (value) => internalForm(value, "PodTemplateSpec"));
  }
  const wanted = memberOf<PodSpec>(template, "spec");
  const allowed = memberOf<PodSpec>(withSchedulingOf(before, template), "spec");
  const expected: PodSpec = {
    ...allowed,
    ...withResources(allowed.containers, wanted.containers, "containers"),
    ...withResources(allowed.initContainers, wanted.initContainers, "initContainers"),
  };
  return immutable(wanted, expected, "spec.template.spec", (value) => internalForm(value, "PodSpec"));
}

/**
 * The stored pod template with the scheduling directives of the new one: node selector, affinity, tolerations,
 * scheduling gates, labels, annotations.
 */
function withSchedulingOf(before: PodTemplate, next: PodTemplate): PodTemplate {
  const spec = { ...memberOf<PodSpec>(before, "spec") };
  const wanted = memberOf<PodSpec>(next, "spec");
  const affinity = affinityAfter(spec.affinity, wanted.affinity);
  if (affinity) spec.affinity = affinity;
  else delete spec.affinity;
  for (const member of ["nodeSelector", "tolerations", "schedulingGates"]) {
    if (wanted[member] === undefined) delete spec[member];
    else spec[member] = wanted[member];
  }
  const { labels, annotations } = memberOf<ObjectMeta>(next, "metadata");
  return { ...before, metadata: { ...before.metadata, labels, annotations }, spec };
}

function affinityAfter(before: Affinity | undefined, next: Affinity | undefined): Affinity | undefined {
  if (!before && !next) return undefined;
  const { nodeAffinity: _, ...others } = before ?? {};
  if (!next) return Object.keys(others).length === 0 ? undefined : others;
  return next.nodeAffinity ? { ...others, nodeAffinity: next.nodeAffinity } : others;
}

function withResources(
  before: Container[] | undefined,
  next: Container[] | undefined,
  member: string,
): { [member: string]: Container[] } {
  if (!before || !next || before.length !== next.length) return before ? { [member]: before } : {};
  return {
    [member]: before.map((container, index) => {
      const other = next[index];
      if (other?.name !== container.name || sameValue(other?.resources, container.resources)) return container;
      const { resources: _, ...rest } = container;
      return other?.resources ? { ...rest, resources: other.resources } : rest;
    }),
  };
}
