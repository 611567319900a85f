import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  notSupportedField,
  requiredField,
} from "../../../../base/api/field-error.ts";
import { compareQuantities, parseQuantity } from "../../../../base/api/quantity.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { ResourceClaim, ResourceRequirements } from "../../../types/container.ts";
import { labelName, pushInvalid } from "../../shared-rules/formats.ts";
import {
  isHugePages,
  isMultipleOfPages,
  isOvercommitAllowed,
  isPodLevelResource,
  pushAmountErrors,
  pushContainerResourceNameErrors,
  pushResourceNameErrors,
} from "../../shared-rules/resource-names.ts";
import type { PodOptions } from "../pod/pod-options.ts";

/** Context of validating ResourceRequirements. */
export interface ResourceScope {
  readonly options: PodOptions;
  /** Names in `spec.resourceClaims` of the pod. */
  readonly claimNames: ReadonlySet<string>;
  /** Whether these are the pod-level resources, `spec.resources`. */
  readonly isPodLevel?: boolean;
}

const POD_LEVEL = ["cpu", "hugepages-", "memory"];

/** Validates ResourceRequirements: requests, limits and claims. */
export function validateResources(
  errors: FieldError[],
  requirements: ResourceRequirements,
  path: string,
  scope: ResourceScope,
): void {
  const { limits = {}, requests = {} } = requirements;
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  for (const [name, amount] of Object.entries(limits)) {
    checkAmount(errors, { name, amount, path: `${path}.limits[${name}]` }, scope);
    checkPages(errors, { name, amount, path: `${path}.limits[${name}]` }, scope);
  }
  for (const [name, amount] of Object.entries(requests)) {
    checkAmount(errors, { name, amount, path: `${path}.requests[${name}]` }, scope);
    checkAgainstLimit(errors, name, amount, { limit: getMember(limits, name), path });
    checkPages(errors, { name, amount, path: `${path}.requests[${name}]` }, scope);
  }
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    errors.push(forbiddenField(path, "HugePages require cpu or memory"));
  }
  checkClaims(errors, requirements.claims ?? [], `${path}.claims`, scope.claimNames);
}

interface Amount {
  readonly name: string;
  readonly amount: string;
  readonly path: string;
}

function checkAmount(errors: FieldError[], { name, amount, path }: Amount, { isPodLevel }: ResourceScope): void {
  if (isPodLevel) {
    const before = errors.length;
    pushResourceNameErrors(errors, path, name);
    if (errors.length === before && !isPodLevelResource(name)) errors.push(notSupportedField(path, name, POD_LEVEL));
  } else {
    pushContainerResourceNameErrors(errors, path, name);
  }
  pushAmountErrors(errors, path, name, amount);
}

function checkAgainstLimit(
  errors: FieldError[],
  name: string,
  amount: string,
  { limit, path }: { readonly limit: string | undefined; readonly path: string },
): void {
  if (limit === undefined) {
    if (isOvercommitAllowed(name)) return;
    errors.push(requiredField(`${path}.limits`, "Limit must be set for non overcommitable resources"));
    return;
  }
  const difference = amount === limit ? 0 : compareQuantities(parseQuantity(amount), parseQuantity(limit));
  if (difference !== 0 && !isOvercommitAllowed(name)) {
    errors.push(invalidField(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`));
  } else if (difference > 0) {
    errors.push(invalidField(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`));
  }
}

function checkPages(errors: FieldError[], { name, amount, path }: Amount, { options }: ResourceScope): void {
  if (!isHugePages(name) || options.allowsPartsOfPages || isMultipleOfPages(name, amount)) return;
  errors.push(invalidField(path, amount, `${amount} is not positive integer multiple of ${name}`));
}

function checkClaims(
  errors: FieldError[],
  claims: readonly ResourceClaim[],
  path: string,
  claimNames: ReadonlySet<string>,
): void {
  const seen = new Set<string>();
  let unknown: string | undefined;
  /** How many keys such as `claim/request` each claim has. */
  const requests = new Map<string, number>();
  for (const [index, { name = "", request = "" }] of claims.entries()) {
    const at = `${path}[${index}]`;
    if (name === "") {
      errors.push(requiredField(at));
      continue;
    }
    if (seen.has(name)) {
      errors.push(duplicateField(at, name));
    } else {
      if (request !== "") pushInvalid(errors, `${at}.request`, request, labelName(request));
      const key = request === "" ? name : `${name}/${request}`;
      if (seen.has(key)) errors.push(duplicateField(at, key));
      else if (request === "") {
        for (let others = requests.get(name) ?? 0; others > 0; others--) errors.push(duplicateField(at, name));
      }
      if (!seen.has(key) && key.includes("/")) {
        const owner = key.slice(0, key.indexOf("/"));
        requests.set(owner, (requests.get(owner) ?? 0) + 1);
      }
      seen.add(key);
    }
    if (claimNames.has(name)) continue;
    unknown ??= unknownClaimText(claimNames);
    errors.push(notFoundField(at, name, unknown));
  }
}

function unknownClaimText(claimNames: ReadonlySet<string>): string {
  const known = claimNames.size === 0 ? " which is empty" : `: ${[...claimNames].sort().join(", ")}`;
  return `must be one of the names in pod.spec.resourceClaims${known}`;
}
