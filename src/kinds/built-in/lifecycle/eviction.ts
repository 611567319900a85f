import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import type { KubeObject } from "../../../base/api/object.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { type Condition, validateConditions } from "../shared-rules/conditions.ts";
import { type DeclaredRules, declaredHook, type FieldRules } from "../shared-rules/declared.ts";
import { type EvictionStatus, statusOf } from "./eviction-types.ts";
import { responderStatusErrors } from "./responder-status.ts";
import { targetResponderErrors } from "./target-responders.ts";

const KEYED: FieldRules = { required: true, format: "prefixed-label-key" };
const ONCE: FieldRules = { no: ["modify", "unset"] };
const POD_REFERENCE = {
  fields: { name: { required: true, format: "long-name" }, uid: { required: true, format: "uuid" } },
} as const;
const REPORT = {
  conditions: { maxItems: 100 },
  observedGeneration: { no: ["unset"], minimum: 1, monotonic: true },
} as const;

const DECLARED: DeclaredRules = {
  EvictionRequestSpec: {
    fields: {
      target: { immutable: true },
      requester: { immutable: true, required: true, format: "requester-name" },
      intent: { required: true, closed: true },
    },
  },
  EvictionRequestTarget: { union: ["pod"] },
  EvictionRequestPodReference: POD_REFERENCE,
  EvictionRequestStatus: { fields: REPORT },
  EvictionSpec: { fields: { target: { immutable: true } } },
  EvictionTarget: { union: ["pod"] },
  EvictionPodReference: POD_REFERENCE,
  EvictionStatus: {
    fields: {
      ...REPORT,
      requesters: { maxItems: 100, keys: ["name"] },
      targetResponders: { maxItems: 11, keys: ["name"] },
      responders: { maxItems: 11, keys: ["name"] },
    },
  },
  Requester: { fields: { name: KEYED, intent: { required: true, closed: true } } },
  TargetResponder: {
    fields: {
      name: KEYED,
      priority: { required: true, no: ["modify", "unset"], minimum: 0, maximum: 100_000 },
      state: { required: true, closed: true },
    },
  },
  ResponderStatus: {
    fields: { name: KEYED, startTime: ONCE, completionTime: ONCE, message: { maxLength: 4000 } },
  },
};

const declaredOf = (kind: string) => declaredHook(DECLARED, (version) => `io.k8s.api.lifecycle.${version}.${kind}`);

const declaredRequest = declaredOf("EvictionRequest");

/** EvictionRequest: requests the eviction of a pod. */
export const evictionRequestHooks: ResourceHooks = {
  validate(next, previous, context) {
    const errors =
      context.subresource === "status" ? validateConditions(statusOf(next).conditions, "status.conditions") : [];
    return [...errors, ...declaredRequest(next, previous, context)];
  },
};

const FINAL_TYPES = ["TargetEvicted", "Failed"];

const isTrue = ({ conditions = [] }: EvictionStatus, type: string): boolean =>
  conditions.some((condition) => condition.type === type && condition.status === "True");

/** Final conditions of the stored Eviction that the next state reverts. */
function reverted(next: EvictionStatus, before: EvictionStatus): Condition[] {
  return (before.conditions ?? []).filter((old) => {
    if (!FINAL_TYPES.includes(old.type ?? "") || old.status !== "True") return false;
    const now = (next.conditions ?? []).find(({ type }) => type === old.type);
    return !now || now.status === "False" || now.reason !== old.reason;
  });
}

function statusErrors(next: KubeObject, previous: KubeObject, now: number): FieldError[] {
  const [status, before] = [statusOf(next), statusOf(previous)];
  const { conditions = [], targetResponders = [], responders = [] } = status;
  const takenBack = reverted(status, before);
  const isFinal = takenBack.length > 0 || FINAL_TYPES.some((type) => isTrue(status, type));
  return [
    ...validateConditions(conditions, "status.conditions"),
    ...takenBack.map(({ type = "" }) =>
      invalidField("status.conditions", conditions, `${type} condition status cannot be reverted`),
    ),
    ...targetResponderErrors(targetResponders, before.targetResponders ?? [], { now, isFinal, responders }),
    ...responderStatusErrors(responders, before.responders ?? [], targetResponders, now),
  ];
}

const declaredEviction = declaredOf("Eviction");

/** Eviction of lifecycle.k8s.io: responders evict a pod, one after the other. */
export const evictionHooks: ResourceHooks = {
  validate(next, previous, context) {
    const errors = previous && context.subresource === "status" ? statusErrors(next, previous, context.now) : [];
    return [...errors, ...declaredEviction(next, previous, context)];
  },
};
