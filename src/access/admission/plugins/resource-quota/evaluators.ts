import type { KubeObject } from "../../../../base/api/object.ts";
import type { ObjectAccess, ResourceDefinition } from "../../../../resources/model/definition.ts";
import { isInGroup } from "../../matches.ts";
import { deviceClaimEvaluator } from "./device-claims.ts";
import { countName, type Evaluator, objectCounts } from "./evaluator.ts";
import { podEvaluator } from "./pods.ts";
import { serviceEvaluator } from "./services.ts";
import { volumeClaimEvaluator } from "./volume-claims.ts";

/** Resources that ResourceQuota ignores: not stored, or never limited. */
const IGNORED: readonly (readonly [group: string, plural: string])[] = [
  ["", "bindings"],
  ["", "componentstatuses"],
  ["authentication.k8s.io", "tokenreviews"],
  ["authentication.k8s.io", "selfsubjectreviews"],
  ["authorization.k8s.io", "subjectaccessreviews"],
  ["authorization.k8s.io", "selfsubjectaccessreviews"],
  ["authorization.k8s.io", "localsubjectaccessreviews"],
  ["authorization.k8s.io", "selfsubjectrulesreviews"],
  ["", "events"],
  ["events.k8s.io", "events"],
];

/** Kinds that a ResourceQuota also counts by their plain name, without count/. */
const ALIASES: readonly string[] = ["configmaps", "resourcequotas", "replicationcontrollers", "secrets"];

/** The evaluators of all kinds. Upstream: `quota.Registry`. */
export class QuotaEvaluators {
  readonly #access: ObjectAccess;
  readonly #known = new WeakMap<ResourceDefinition, Evaluator>();

  constructor(access: ObjectAccess) {
    this.#access = access;
  }

  /** The evaluator that knows which writes of a kind change usage. For usage, call `for`. */
  of(definition: ResourceDefinition): Evaluator {
    const known = this.#known.get(definition);
    if (known) return known;
    const made = makeEvaluator(definition, this.#access);
    this.#known.set(definition, made);
    return made;
  }

  /** The evaluator of one object, or of a kind if the object is omitted. */
  async for(definition: ResourceDefinition, object?: KubeObject): Promise<Evaluator> {
    if (isDeviceClaim(definition)) return deviceClaimEvaluator(this.#access, definition.group, object);
    return this.of(definition);
  }
}

/** Whether ResourceQuotas can count objects of a kind. */
export function isCounted(definition: ResourceDefinition): boolean {
  return !IGNORED.some(([group, plural]) => definition.plural === plural && isInGroup(definition, group));
}

const isDeviceClaim = (definition: ResourceDefinition) =>
  definition.plural === "resourceclaims" && isInGroup(definition, "resource.k8s.io");

function makeEvaluator(definition: ResourceDefinition, access: ObjectAccess): Evaluator {
  const { group, plural } = definition;
  const count = countName(group, plural);
  if (isDeviceClaim(definition)) return { ...objectCounts(count), handles: ({ subresource }) => subresource === "" };
  if (group !== "") return objectCounts(count);
  if (plural === "pods") return podEvaluator(() => access.clock.now());
  if (plural === "services") return serviceEvaluator;
  if (plural === "persistentvolumeclaims") return volumeClaimEvaluator;
  return ALIASES.includes(plural) ? objectCounts(count, plural) : objectCounts(count);
}
