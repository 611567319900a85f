import { type FieldError, invalidField, requiredField } from "../../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { compareQuantities, parseQuantity } from "../../../../base/api/quantity.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { ResourceHooks } from "../../../../resources/model/definition.ts";
import type { Texts } from "../../../types/meta.ts";
import { asGo, type GoShape } from "../../shared-rules/go-print.ts";
import { IMMUTABLE } from "../../shared-rules/immutable.ts";
import { roundResourceList } from "../../shared-rules/quantities.ts";
import { isHugePages, pushAmountErrors, pushResourceNameErrors } from "../../shared-rules/resource-names.ts";

interface ScopeRequirement extends JsonObject {
  scopeName?: string;
  operator?: string;
  values?: string[];
}

interface QuotaSpec extends JsonObject {
  hard?: Texts;
  scopes?: string[];
  scopeSelector?: { matchExpressions?: ScopeRequirement[] };
}

const COMPUTE = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const POD_RESOURCES = ["pods", ...COMPUTE];
/** Compat: `storage` is not a standard quota resource (`IsStandardQuotaResourceName`), only `requests.storage` is. */
const COUNTED = new Set([
  ...POD_RESOURCES,
  ...["ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage", "requests.storage"],
  ...["resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims"],
  ...["services.nodeports", "services.loadbalancers"],
]);

/** Which resources a ResourceQuota may limit under a scope. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  Terminating: POD_RESOURCES,
  NotTerminating: POD_RESOURCES,
  NotBestEffort: POD_RESOURCES,
  PriorityClass: POD_RESOURCES,
  CrossNamespacePodAffinity: POD_RESOURCES,
  BestEffort: ["pods"],
  VolumeAttributesClass: ["persistentvolumeclaims", "requests.storage"],
};
const EXCLUSIVE = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];
/** Scopes that only allow the operator Exists. */
const PLAIN_SCOPES = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];
const PLAIN_TEXT =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
const SELECTOR: GoShape = [
  [
    "MatchExpressions",
    "matchExpressions",
    null,
    [
      ["ScopeName", "scopeName", ""],
      ["Operator", "operator", ""],
      ["Values", "values"],
    ],
  ],
];

const specOf = ({ spec }: KubeObject): QuotaSpec => (isObject(spec) ? spec : {});
const statusOf = ({ status }: KubeObject): { hard?: Texts; used?: Texts } => (isObject(status) ? status : {});

const isCounted = (name: string): boolean =>
  COUNTED.has(name) || isHugePages(name) || name.startsWith("requests.hugepages-");

function listErrors(list: Texts = {}, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, amount] of Object.entries(list)) {
    const at = `${path}[${name}]`;
    pushResourceNameErrors(errors, at, name);
    if (!name.includes("/") && !isCounted(name)) {
      errors.push(invalidField(at, name, "must be a standard resource for quota"));
    }
    pushAmountErrors(errors, at, name, amount);
  }
  return errors;
}

/** Finds the resources in `hard` that a scope does not allow. Cached per scope. */
function misfitsIn({ hard = {} }: QuotaSpec): (scope: string) => readonly string[] {
  const counted = Object.keys(hard).filter(isCounted);
  const known = new Map<string, readonly string[]>();
  return (scope) => {
    const allowed = getMember(SCOPES, scope);
    if (!allowed) return [];
    const found = known.get(scope) ?? counted.filter((name) => !allowed.includes(name));
    known.set(scope, found);
    return found;
  };
}

function conflicts(scopes: readonly string[]): unknown[] {
  return EXCLUSIVE.filter((pair) => pair.every((scope) => scopes.includes(scope)));
}

function scopeErrors(spec: QuotaSpec): FieldError[] {
  const { scopes = [] } = spec;
  const problem = (text: string) => invalidField("spec.scopes", scopes, text);
  const misfits = misfitsIn(spec);
  return [
    ...scopes.flatMap((scope) => [
      ...(getMember(SCOPES, scope) ? [] : [problem("unsupported scope")]),
      ...misfits(scope).map(() => problem("unsupported scope applied to resource")),
    ]),
    ...conflicts(scopes).map(() => problem("conflicting scopes")),
  ];
}

function selectorErrors(spec: QuotaSpec): FieldError[] {
  const { scopeSelector, scopes } = spec;
  const requirements = scopeSelector?.matchExpressions ?? [];
  // Compat: `validateScopedResourceSelectorRequirement` gives errors the path of `matchExpressions` without an index.
  const path = "spec.scopeSelector.matchExpressions";
  const names = requirements.map(({ scopeName = "" }) => scopeName);
  const misfits = misfitsIn(spec);
  return [
    ...requirements.flatMap((requirement) => [
      ...scopeNameErrors(requirement, path),
      ...misfits(requirement.scopeName ?? "").map(() =>
        invalidField(path, asGo(scopeSelector, SELECTOR), "unsupported scope applied to resource"),
      ),
      ...operatorErrors(requirement, path),
    ]),
    ...conflicts(names).map(() => invalidField(path, scopes, "conflicting scopes")),
  ];
}

function scopeNameErrors({ scopeName = "" }: ScopeRequirement, path: string): FieldError[] {
  return getMember(SCOPES, scopeName) ? [] : [invalidField(`${path}.scopeName`, scopeName, "unsupported scope")];
}

function operatorErrors({ scopeName = "", operator = "", values = [] }: ScopeRequirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (PLAIN_SCOPES.includes(scopeName) && operator !== "Exists") {
    errors.push(invalidField(`${path}.operator`, operator, PLAIN_TEXT));
  }
  if (operator === "In" || operator === "NotIn") {
    const text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) errors.push(requiredField(`${path}.values`, text));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) errors.push(invalidField(`${path}.values`, values, text));
  } else {
    errors.push(invalidField(`${path}.operator`, operator, "not a valid selector operator"));
  }
  return errors;
}

/** Warns about requests that exceed limits. */
function warnings({ hard = {} }: QuotaSpec): string[] {
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const hasBareName = name === "cpu" || name === "memory";
    const requests = hard[`requests.${name}`] === undefined && hasBareName ? name : `requests.${name}`;
    const limits = `limits.${name}`;
    const [request, limit] = [hard[requests], hard[limits]];
    if (request === undefined || limit === undefined) return [];
    if (compareQuantities(parseQuantity(request), parseQuantity(limit)) <= 0) return [];
    return [`ResourceQuota ${requests} (${request}) should be less than ${limits} (${limit})`];
  });
}

/** ResourceQuota: limits the resources of a namespace. */
export const resourceQuotaHooks: ResourceHooks = {
  setDefaults(quota) {
    roundResourceList(specOf(quota).hard);
    roundResourceList(statusOf(quota).hard);
    roundResourceList(statusOf(quota).used);
  },
  validate(next, previous, { subresource }) {
    const { hard, used } = statusOf(next);
    if (subresource === "status") return [...listErrors(hard, "status.hard"), ...listErrors(used, "status.used")];
    const spec = specOf(next);
    const errors = [...listErrors(spec.hard, "spec.hard"), ...scopeErrors(spec), ...selectorErrors(spec)];
    if (previous) {
      const [scopes, old] = [new Set(spec.scopes), new Set(specOf(previous).scopes)];
      const isSame = scopes.size === old.size && [...scopes].every((scope) => old.has(scope));
      if (!isSame) errors.push(invalidField("spec.scopes", spec.scopes, IMMUTABLE));
    }
    return errors;
  },
  warn: (next, previous) => (previous ? [] : warnings(specOf(next))),
};
