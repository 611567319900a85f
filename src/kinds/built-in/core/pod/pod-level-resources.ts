import { type FieldError, forbiddenField, invalidField } from "../../../../base/api/field-error.ts";
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
} from "../../../../base/api/quantity.ts";
import { getMember } from "../../../../base/util/members.ts";
import { type Container, isSidecar } from "../../../types/container.ts";
import type { Texts } from "../../../types/meta.ts";
import type { PodSpec } from "../../../types/pod.ts";
import { containersWithPaths } from "../../../types/pod-containers.ts";
import { isHugePages, isOvercommitAllowed, isPodLevelResource } from "../../shared-rules/resource-names.ts";
import type { ContainerScope } from "../container/container-validation.ts";
import { validateResources } from "../container/resource-validation.ts";

type Amounts = Map<string, Quantity>;
type Side = "limits" | "requests";

/**
 * Aggregate requests or limits of containers and init containers, sidecars included. Upstream:
 * `AggregateContainerRequests`.
 */
export function aggregateResources({ containers, initContainers }: PodSpec, side: Side): Amounts {
  const total: Amounts = new Map();
  for (const container of containers ?? []) add(total, amountsOf(container, side));
  const beside: Amounts = new Map();
  const atFirst: Amounts = new Map();
  for (const container of initContainers ?? []) {
    const own = amountsOf(container, side);
    if (isSidecar(container)) {
      add(total, own);
      add(beside, own);
      raise(atFirst, beside);
    } else {
      const both: Amounts = new Map(own);
      add(both, beside);
      raise(atFirst, both);
    }
  }
  raise(total, atFirst);
  return total;
}

function amountsOf({ resources }: Container, side: Side): Amounts {
  return new Map(Object.entries(resources?.[side] ?? {}).map(([name, amount]) => [name, parseQuantity(amount)]));
}

function add(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = total.get(name);
    total.set(name, known ? addQuantities(known, amount) : amount);
  }
}

function raise(total: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const known = total.get(name);
    if (!known || compareQuantities(amount, known) > 0) total.set(name, amount);
  }
}

/** Rejects `claims` in pod-level resources. */
export function podClaimsError(path: string): FieldError {
  return forbiddenField(`${path}.claims`, "claims may not be set for Resources at pod-level");
}

/** Validates pod-level resources, `spec.resources`. */
export function validatePodLevelResources(
  errors: FieldError[],
  spec: PodSpec,
  path: string,
  { options, claimNames, os }: ContainerScope,
): void {
  const { resources } = spec;
  if (!resources) return;
  const at = `${path}.resources`;
  if (os === "windows") {
    errors.push(forbiddenField(at, "may not be set for a windows pod"));
    return;
  }
  if (resources.claims) errors.push(podClaimsError(at));
  validateResources(errors, resources, at, { options, claimNames, isPodLevel: true });
  const { requests = {}, limits = {} } = resources;
  for (const [name, amount] of aggregateResources(spec, "requests")) {
    checkCovers(errors, getMember(requests, name), amount, { path: `${at}.requests[${name}]`, side: "requests" });
  }
  for (const [name, amount] of aggregateResources(spec, "limits")) {
    if (!isHugePages(name)) continue;
    checkCovers(errors, getMember(limits, name), amount, { path: `${at}.limits[${name}]`, side: "limits" });
  }
  for (const [index, container] of (spec.containers ?? []).entries()) {
    checkWithin(errors, container, limits, `${at}.containers[${index}]`);
  }
}

function checkCovers(
  errors: FieldError[],
  given: string | undefined,
  needed: Quantity,
  { path, side }: { readonly path: string; readonly side: Side },
): void {
  if (given === undefined || compareQuantities(needed, parseQuantity(given)) <= 0) return;
  const text = `must be greater than or equal to aggregate container ${side} of ${printQuantity(needed)}`;
  errors.push(invalidField(path, given, text));
}

function checkWithin(errors: FieldError[], { resources }: Container, limits: Texts, path: string): void {
  for (const [name, own] of Object.entries(resources?.limits ?? {})) {
    const limit = limits[name];
    if (limit === undefined || compareQuantities(parseQuantity(own), parseQuantity(limit)) <= 0) continue;
    const text = `must be less than or equal to pod limits of ${limit}`;
    // Compat: upstream's path is `containers[0][cpu].limits`: `Key` before `Child("limits")`.
    errors.push(invalidField(`${path}[${name}].limits`, own, text));
  }
}

/** Sets defaults of pod-level resources from those of containers. Changes `spec`. */
export function setPodLevelDefaults(spec: PodSpec): void {
  const { resources } = spec;
  if (!resources) return;
  const requests: Texts = { ...resources.requests };
  const limits: Texts = { ...resources.limits };
  if (Object.keys(requests).length === 0 && Object.keys(limits).length === 0) return;
  for (const [name, amount] of aggregateResources(spec, "limits")) {
    if (isHugePages(name) && requests[name] === undefined) limits[name] ??= printQuantity(amount);
  }
  for (const [name, amount] of aggregateResources(spec, "requests")) {
    if (isPodLevelResource(name) && isOvercommitAllowed(name)) requests[name] ??= printQuantity(amount);
  }
  for (const [name, amount] of Object.entries(limits)) {
    if (isPodLevelResource(name)) requests[name] ??= amount;
  }
  setLimits(spec, requests, limits);
  if (Object.keys(requests).length > 0) resources.requests = sorted(requests);
  if (Object.keys(limits).length > 0) resources.limits = sorted(limits);
}

/** Sets pod-level limits if all containers have limits, but never below requests. */
function setLimits(spec: PodSpec, requests: Texts, limits: Texts): void {
  const containers = containersWithPaths(spec, "").map(({ container }) => container);
  const total = aggregateResources(spec, "limits");
  for (const [name, request] of Object.entries(requests)) {
    if (!isPodLevelResource(name) || limits[name] !== undefined) continue;
    const limit = total.get(name);
    if (!limit || containers.some(({ resources }) => resources?.limits?.[name] === undefined)) continue;
    limits[name] = compareQuantities(parseQuantity(request), limit) > 0 ? request : printQuantity(limit);
  }
}

function sorted(list: Texts): Texts {
  return Object.fromEntries(Object.entries(list).sort(([a], [b]) => (a < b ? -1 : 1)));
}
