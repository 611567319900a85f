import type { JsonObject } from "../../src/base/api/object.ts";
import { BEHAVIOURS } from "../support/webhook-server.ts";
import type { Random } from "./random.ts";

/** A request that is sent to both servers; `{}` in a body stands for nothing. */
export interface Request {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
}

/** A webhook without its clientConfig, and what the server behind it does. */
export interface CaseWebhook {
  readonly behaviour: string;
  readonly spec: JsonObject;
}

/** One configuration of webhooks. */
export interface Case {
  readonly kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration";
  readonly webhooks: readonly CaseWebhook[];
}

const SLOW: ReadonlySet<string> = new Set(["hang", "marker"]);
const QUICK: readonly string[] = Object.keys(BEHAVIOURS).filter((name) => !SLOW.has(name));
const PATCHES = [
  "label",
  "annotation",
  "again",
  "data",
  "spec",
  "replicas",
  "unknown",
  "finalizer",
  "rename",
  "move-away",
  "test-ok",
  "test-fails",
  "missing-path",
  "missing-key",
  "replace-missing",
  "wrong-type",
  "wrong-label",
  "nothing",
  "same-again",
];

const RESOURCES: readonly (readonly string[])[] = [
  ["*"],
  ["*/*"],
  ["pods"],
  ["pods/*"],
  ["configmaps", "secrets"],
  ["deployments", "deployments/scale"],
  ["*/scale"],
  ["*/status"],
  ["widgets", "widgets/status"],
  ["horizontalpodautoscalers"],
  ["events"],
  ["namespaces", "clusterroles"],
  ["pods/binding", "pods/eviction", "bindings"],
  ["pods/ephemeralcontainers", "pods/resize"],
  ["pods/exec", "pods/attach", "pods/proxy"],
];
const GROUPS: readonly (readonly string[])[] = [
  ["*"],
  ["*"],
  ["*"],
  [""],
  ["apps"],
  ["autoscaling", ""],
  ["example.com"],
  ["events.k8s.io"],
  ["policy", ""],
];
const VERSIONS: readonly (readonly string[])[] = [["*"], ["*"], ["v1"], ["v2"], ["v1", "v2"], ["v1beta1"]];
const OPERATIONS: readonly (readonly string[])[] = [
  ["*"],
  ["*"],
  ["*"],
  ["CONNECT"],
  ["CREATE"],
  ["UPDATE"],
  ["DELETE"],
  ["CREATE", "UPDATE"],
  ["UPDATE", "DELETE"],
];
const SELECTORS: readonly JsonObject[] = [
  { matchLabels: { team: "a" } },
  { matchLabels: { team: "b" } },
  { matchExpressions: [{ key: "team", operator: "Exists" }] },
  { matchExpressions: [{ key: "team", operator: "NotIn", values: ["b"] }] },
  { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["hooked"] }] },
];
const CONDITIONS: readonly string[] = [
  "true",
  "false",
  "request.operation == 'CREATE'",
  "request.operation != 'DELETE'",
  "object != null && object.metadata.name.startsWith('x')",
  "has(object.metadata.labels)",
  "object.metadata.labels['team'] == 'a'",
  "oldObject == null || has(oldObject.metadata.labels)",
  "request.userInfo.username == 'admin'",
  "!('system:nodes' in request.userInfo.groups)",
  "request.resource.resource == 'pods' || request.subResource == 'status'",
  "request.requestKind.version == request.kind.version",
  "!has(request.namespace) || request.namespace == 'hooked'",
  "!request.dryRun",
  "request.options.kind == 'CreateOptions'",
  "has(request.options.fieldManager) && request.options.fieldManager == 'fuzz'",
  "authorizer.requestResource.check('delete').allowed()",
  "authorizer.group('').resource('pods').namespace('hooked').check('create').allowed()",
  "authorizer.serviceAccount('hooked', 'default').group('').resource('pods').check('get').allowed()",
  "object.spec.replicas > 1",
  "object.spec.containers.all(c, c.image.contains('/'))",
  "object.missing.deeper == 1",
  "[1, 2, 3].exists(x, x == 3)",
];

function rule(random: Random): JsonObject {
  return {
    operations: [...random.pick(OPERATIONS)],
    apiGroups: [...random.pick(GROUPS)],
    apiVersions: [...random.pick(VERSIONS)],
    resources: [...random.pick(RESOURCES)],
    ...(random.chance(0.3) && { scope: random.pick(["*", "Namespaced", "Cluster"]) }),
  };
}

function webhook(random: Random, index: number, isMutating: boolean): CaseWebhook {
  const isPatching = isMutating && random.chance(0.5);
  const isPlain = random.chance(0.35);
  const behaviour = isPlain ? "allow" : isPatching ? random.pick(PATCHES) : random.pick(QUICK);
  const conditions = random.chance(0.35)
    ? [random.pick(CONDITIONS), ...random.some(1, () => random.pick(CONDITIONS))]
    : [];
  return {
    behaviour,
    spec: {
      name: `w${index}.fuzz.example.com`,
      rules: random.chance(0.8) ? [rule(random)] : [rule(random), rule(random)],
      sideEffects: random.pick(["None", "NoneOnDryRun"]),
      admissionReviewVersions: random.chance(0.8) ? ["v1"] : random.chance(0.5) ? ["v1beta1"] : ["v3", "v1beta1", "v1"],
      ...(random.chance(0.5) && { failurePolicy: random.pick(["Fail", "Ignore"]) }),
      ...(random.chance(0.5) && { matchPolicy: random.pick(["Exact", "Equivalent"]) }),
      ...(random.chance(0.25) && { namespaceSelector: random.pick(SELECTORS) }),
      ...(random.chance(0.25) && { objectSelector: random.pick(SELECTORS) }),
      ...(conditions.length > 0 && {
        matchConditions: conditions.map((expression, at) => ({ name: `c${at}`, expression })),
      }),
      ...(isMutating && random.chance(0.5) && { reinvocationPolicy: random.pick(["Never", "IfNeeded"]) }),
      ...(random.chance(0.2) && { timeoutSeconds: 1 + random.below(30) }),
    },
  };
}

/** A random configuration. */
export function randomCase(random: Random): Case {
  const isMutating = random.chance(0.55);
  const kind = isMutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  // The answers of several validating webhooks come in any order.
  const count = isMutating ? 1 + random.below(3) : 1;
  return { kind, webhooks: Array.from({ length: count }, (_, index) => webhook(random, index, isMutating)) };
}

/** What every behaviour of a webhook makes of a create and of an update, whatever chance picks. */
export function plainCases(): Case[] {
  const spec = {
    name: "w0.fuzz.example.com",
    rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["configmaps", "pods"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  const kinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] as const;
  return kinds.flatMap((kind) =>
    QUICK.flatMap((behaviour) => [
      { kind, webhooks: [{ behaviour, spec }] },
      {
        kind,
        webhooks: [{ behaviour, spec: { ...spec, failurePolicy: "Ignore", admissionReviewVersions: ["v1beta1"] } }],
      },
    ]),
  );
}
