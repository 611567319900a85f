import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { qualifiedName } from "../../../base/api/names.ts";
import { parseQuantity, type Quantity, tenTo } from "../../../base/api/quantity.ts";
import { NOT_NEGATIVE } from "./numbers.ts";

const HUGE_PAGES = "hugepages-";
const OWN_DOMAIN = "kubernetes.io/";
const REQUESTS = "requests.";

const COUNTED = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const INTEGERS = new Set(COUNTED);
const CONTAINER = new Set(["cpu", "memory", "ephemeral-storage"]);
const STANDARD = new Set([
  ...CONTAINER,
  ...[...CONTAINER].flatMap((name) => [`${REQUESTS}${name}`, `limits.${name}`]),
  ...COUNTED,
  "storage",
  "requests.storage",
]);

/** Whether a resource is hugepages-*. Upstream: `IsHugePageResourceName`. */
export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Whether a resource is in the kubernetes.io domain or has none. Upstream: `IsNativeResource`. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes(OWN_DOMAIN);
}

/** Whether a resource may be overcommitted. Upstream: `IsOvercommitAllowed`. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Whether a resource is an extended resource. Upstream: `IsExtendedResourceName`. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith(REQUESTS)) return false;
  return qualifiedName(`${REQUESTS}${name}`).length === 0;
}

/** Whether a quantity of a resource must be an integer. Upstream: `IsIntegerResourceName`. */
export function isIntegerResource(name: string): boolean {
  return INTEGERS.has(name) || isExtendedResource(name);
}

/** Whether `spec.resources` of a pod may have a resource. Upstream: `IsSupportedPodLevelResource`. */
export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/** Whether containers may request a resource whose name has no domain. Upstream: `IsStandardContainerResourceName`. */
export function isStandardContainerResource(name: string): boolean {
  return CONTAINER.has(name) || isHugePages(name);
}

/** Validates a resource name. Upstream: `validateResourceName`. */
export function pushResourceNameErrors(errors: FieldError[], path: string, name: string): void {
  if (STANDARD.has(name)) return;
  const texts = qualifiedName(name);
  for (const text of texts) errors.push(invalidField(path, name, text));
  if (texts.length > 0 || name.includes("/")) return;
  if (isHugePages(name) || name.startsWith(`${REQUESTS}${HUGE_PAGES}`)) return;
  errors.push(invalidField(path, name, "must be a standard resource type or fully qualified"));
}

/** Validates the name of a resource in a container's requests or limits. Upstream: `ValidateContainerResourceName`. */
export function pushContainerResourceNameErrors(errors: FieldError[], path: string, name: string): void {
  pushResourceNameErrors(errors, path, name);
  if (!name.includes("/")) {
    if (isStandardContainerResource(name)) return;
    errors.push(invalidField(path, name, "must be a standard resource for containers"));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalidField(path, name, "doesn't follow extended resource name standard"));
  }
}

/**
 * Validates the quantity of a resource: never negative, and an integer where required. Upstream:
 * `ValidateResourceQuantityValue`.
 */
export function pushAmountErrors(errors: FieldError[], path: string, name: string, amount: string): void {
  const quantity = parseQuantity(amount);
  if (quantity.mantissa < 0n) errors.push(invalidField(path, amount, NOT_NEGATIVE));
  if (isIntegerResource(name) && !isWhole(quantity)) errors.push(invalidField(path, amount, "must be an integer"));
}

/** Whether a quantity is an integer. */
export function isWhole({ mantissa, exponent }: Quantity): boolean {
  return exponent >= 0 || mantissa % 10n ** BigInt(-exponent) === 0n;
}

/** Whether a quantity of hugepages-* is a multiple of the page size. */
export function isMultipleOfPages(name: string, amount: string): boolean {
  let size: Quantity;
  try {
    size = parseQuantity(name.slice(HUGE_PAGES.length));
  } catch {
    return false;
  }
  if (size.mantissa <= 0n || !isWhole(size)) return false;
  return wholeValue(parseQuantity(amount)) % wholeValue(size) === 0n;
}

/** The quantity as an integer, rounded away from zero, like `Quantity.Value()`. */
export function wholeValue({ mantissa, exponent }: Quantity): bigint {
  if (exponent >= 0) return mantissa * tenTo(exponent);
  const unit = 10n ** BigInt(-exponent);
  const extra = mantissa % unit === 0n ? 0n : mantissa < 0n ? -1n : 1n;
  return mantissa / unit + extra;
}
