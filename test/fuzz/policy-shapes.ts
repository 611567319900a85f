import type { JsonObject } from "../../src/base/api/object.ts";
import type { Random } from "./random.ts";

/** A random policy with its binding. */
export interface FuzzedPolicy {
  readonly isMutating: boolean;
  readonly policy: JsonObject;
  readonly binding: JsonObject;
}

/** A request, the same to both servers. None changes anything: all are dry runs. */
export interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: JsonObject;
}

const GROUP = "admissionregistration.k8s.io/v1";

/** Expressions that are true, false or fail, by chance and by what the request is. */
const CONDITIONS = [
  "true",
  "false",
  "object != null",
  "oldObject == null",
  "has(object.metadata.labels) && 'a' in object.metadata.labels",
  "object.metadata.labels.a == '1'",
  "object.metadata.?labels.?a.orValue('') != '1'",
  "request.operation in ['CREATE', 'DELETE']",
  "request.operation == 'UPDATE' ? object.metadata.name == oldObject.metadata.name : true",
  "request.namespace.startsWith('slot')",
  "request.kind.kind == request.requestKind.kind",
  "request.resource.version == request.requestResource.version",
  "!has(request.subResource)",
  "request.subResource == 'scale'",
  "request.dryRun",
  "request.options.fieldManager == 'fuzz'",
  "request.options.kind != 'UpdateOptions'",
  "request.userInfo.groups.exists(g, g == 'system:masters')",
  "namespaceObject.metadata.labels.kind == 'even'",
  "namespaceObject == null || namespaceObject.status.phase == 'Active'",
  "has(object.data) && object.data.size() > 0",
  "object.data.all(k, k.startsWith('k'))",
  "object.spec.replicas <= 3",
  "has(object.spec) && has(object.spec.replicas) && object.spec.replicas > 1",
  "object.spec.template.spec.containers.all(c, c.image.contains(':'))",
  "object.?spec.?template.?spec.?containers.orValue([]).exists(c, c.name == 'a')",
  "object.spec.metrics[0].resource.name == 'cpu'",
  "authorizer.requestResource.check('delete').allowed()",
  "authorizer.group('apps').resource('deployments').namespace('fuzz').check('create').allowed()",
  "authorizer.serviceAccount('fuzz', 'default').group('').resource('pods').check('list').reason() == ''",
  "[1, 2, 3].sum() == 6 && 'a'.matches('^[a-z]$')",
  "object.metadata.missing == 1",
  "1 / (object.metadata.name.size() - 4) >= 0",
];
const WITH_PARAMS = [
  "params != null",
  "params.data.limit == '3'",
  "object.metadata.?labels.?a.orValue('0') <= params.data.limit",
  "params.data.missing == 'x'",
];
const WITH_VARIABLES = [
  "variables.first",
  "variables.second.size() > 0",
  "variables.broken == 1",
  "variables.first || variables.broken == 1",
];
const VARIABLES = [
  { name: "first", expression: "object != null" },
  { name: "second", expression: "variables.first ? object.map(k, k) : ['nothing']" },
  { name: "broken", expression: "object.nowhere.at.all" },
];

/** Messages, most of which tell the shape of what expressions see. */
const MESSAGES = [
  "'plain'",
  "string(request)",
  "object.map(k, k).sort().join(',')",
  "object.metadata.map(k, k).sort().join(',')",
  "oldObject.metadata.map(k, k).sort().join(',')",
  "object.spec.map(k, k).sort().join(',')",
  "object.spec.template.spec.map(k, k).sort().join(',')",
  "object.spec.template.spec.containers[0].map(k, k).sort().join(',')",
  "object.status.map(k, k).sort().join(',')",
  "oldObject.spec.map(k, k).sort().join(',')",
  "request.options.map(k, k).sort().join(',')",
  "request.kind.group + '/' + request.kind.version + '/' + request.kind.kind + ' ' + request.resource.resource",
  "request.requestKind.group + '/' + request.requestKind.version + ' ' + request.requestResource.version",
  "request.name + ' in ' + request.namespace",
  "request.userInfo.username",
  "string(type(object.metadata.name)) + string(type(object.spec.replicas))",
  "namespaceObject.metadata.labels.map(k, k).sort().join(',')",
  "request.options.kind + ' ' + request.operation",
  "string(object.spec.replicas) + ' replicas'",
  "string(request.options.gracePeriodSeconds)",
  "'  padded '",
  "'two\\nlines'",
  "''",
];

const APPLIED = [
  "Object{metadata: Object.metadata{labels: {'added': 'yes'}}}",
  "Object{metadata: Object.metadata{annotations: {'by': request.userInfo.username, 'op': request.operation}}}",
  "Object{spec: Object.spec{replicas: 7}}",
  "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'side', image: 'side:1'}]}}}}",
  "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'a', env: [Object.spec.template.spec.containers.env{name: 'X', value: 'y'}]}]}}}}",
  "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: 'a', args: ['x']}]}}}}",
  "Object{data: {'k9': 'nine'}}",
  "Object{data: object.?data.orValue({'k0': 'zero'})}",
  "Object{metadata: Object.metadata{?labels: object.metadata.?labels}}",
  "Object{spec: Object.other{replicas: 7}}",
  "Object{unknown: 'x'}",
  "Object{metadata: Object.metadata{finalizers: ['example.com/one']}}",
  "Object{metadata: Object.metadata{labels: {'copy': object.metadata.labels['a']}}}",
  "Object{}",
];
const PATCHES = [
  "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}]",
  "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y'), value: 'z'}]",
  "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 5}]",
  "[JSONPatch{op: 'test', path: '/metadata/name', value: 'nobody'}, JSONPatch{op: 'remove', path: '/metadata/labels'}]",
  "has(object.data) ? [JSONPatch{op: 'remove', path: '/data'}] : []",
  "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'p', image: 'p:1'}}]",
  "[JSONPatch{op: 'copy', from: '/metadata/name', path: '/metadata/generateName'}]",
  "[JSONPatch{op: 'add', path: '/spec/unknown', value: 1}]",
  "[]",
];

/** Makes policies and requests. */
export class PolicyMaker {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A policy that judges only requests in the namespace of its slot. */
  policy(name: string, slot: string): FuzzedPolicy {
    const random = this.#random;
    const isMutating = random.chance(0.4);
    const hasParams = random.chance(0.3);
    const hasVariables = random.chance(0.4);
    const spec: JsonObject = {
      ...(random.chance(0.4) && { failurePolicy: random.pick(["Fail", "Ignore"]) }),
      ...(hasParams && { paramKind: { apiVersion: "v1", kind: random.chance(0.95) ? "ConfigMap" : "Nothing" } }),
      ...(hasVariables && { variables: VARIABLES }),
      matchConstraints: this.#constraints(isMutating, slot),
      matchConditions: this.#conditions(hasParams),
      ...(isMutating ? this.#mutations() : this.#validations(hasParams, hasVariables)),
    };
    const kind = isMutating ? "MutatingAdmissionPolicy" : "ValidatingAdmissionPolicy";
    const policy = { apiVersion: GROUP, kind, metadata: { name }, spec };
    const bound: JsonObject = {
      policyName: name,
      ...(isMutating
        ? {}
        : { validationActions: random.pick([["Deny"], ["Deny"], ["Deny", "Audit"], ["Warn"], ["Warn", "Audit"]]) }),
      ...(hasParams && random.chance(0.9) && { paramRef: this.#paramRef() }),
      ...(random.chance(0.3) && { matchResources: this.#constraints(isMutating) }),
    };
    const binding = { apiVersion: GROUP, kind: `${kind}Binding`, metadata: { name }, spec: bound };
    return { isMutating, policy, binding };
  }

  #paramRef(): JsonObject {
    const random = this.#random;
    return {
      parameterNotFoundAction: random.pick(["Allow", "Deny"]),
      ...(random.chance(0.8) && { namespace: "fuzz" }),
      ...(random.chance(0.7)
        ? { name: random.pick(["params-a", "params-b", "params-none"]) }
        : { selector: { matchLabels: { use: random.pick(["params-a", "nothing"]) } } }),
    };
  }

  #conditions(hasParams: boolean): JsonObject[] {
    const random = this.#random;
    const pool = hasParams ? [...CONDITIONS, ...WITH_PARAMS] : CONDITIONS;
    if (random.chance(0.7)) return [];
    return random.some(2, () => random.pick(pool)).map((expression, index) => ({ name: `c${index}`, expression }));
  }

  /** Without a slot, those of a binding. */
  #constraints(isMutating: boolean, slot?: string): JsonObject {
    const random = this.#random;
    const rules = () =>
      Array.from({ length: 1 + random.below(2) }, () => ({
        operations: isMutating
          ? random.pick([["*"], ["CREATE", "UPDATE"], ["CREATE"], ["UPDATE"]])
          : random.pick([
              ["*"],
              ["*"],
              ["CREATE", "UPDATE"],
              ["CREATE"],
              ["UPDATE"],
              ["DELETE"],
              ["CONNECT", "DELETE"],
            ]),
        apiGroups: random.pick([["*"], [""], ["apps"], ["apps", ""], ["autoscaling"], ["batch"]]),
        apiVersions: random.pick([["*"], ["*"], ["v1"], ["v2"], ["v1", "v1beta1"]]),
        resources: random.pick([
          ["*"],
          ["*/*"],
          ["configmaps", "deployments", "deployments/scale"],
          ["deployments/*"],
          ["*/status", "pods/eviction"],
          ["horizontalpodautoscalers", "pods"],
          ["*/scale"],
          ["namespaces", "configmaps"],
        ]),
        ...(random.chance(0.3) && { scope: random.pick(["*", "Namespaced", "Cluster"]) }),
        ...(random.chance(0.15) && { resourceNames: random.pick([["base"], ["new"], ["base", "new"]]) }),
      }));
    return {
      ...((slot !== undefined || random.chance(0.4)) && { resourceRules: rules() }),
      ...(random.chance(0.15) && { excludeResourceRules: rules() }),
      ...(random.chance(0.25) && { matchPolicy: random.pick(["Exact", "Equivalent"]) }),
      ...this.#namespaces(slot),
      ...(random.chance(0.2) && { objectSelector: this.#selector("a", ["1", "2"]) }),
    };
  }

  #namespaces(slot: string | undefined): JsonObject {
    const isNarrow = this.#random.chance(0.2);
    const narrow = isNarrow ? this.#selector("kind", ["even", "odd"]) : {};
    if (slot === undefined) return isNarrow ? { namespaceSelector: narrow } : {};
    return {
      namespaceSelector: { ...narrow, matchLabels: { ...(narrow.matchLabels as JsonObject | undefined), slot } },
    };
  }

  #selector(key: string, values: readonly string[]): JsonObject {
    const random = this.#random;
    if (random.chance(0.5)) return { matchLabels: { [key]: random.pick(values) } };
    const operator = random.pick(["Exists", "DoesNotExist", "In", "NotIn"]);
    const isList = operator === "In" || operator === "NotIn";
    return { matchExpressions: [{ key, operator, ...(isList && { values: [random.pick(values)] }) }] };
  }

  #validations(hasParams: boolean, hasVariables: boolean): JsonObject {
    const random = this.#random;
    const pool = [...CONDITIONS, ...(hasParams ? WITH_PARAMS : []), ...(hasVariables ? WITH_VARIABLES : [])];
    const validation = () => ({
      expression: random.chance(0.35) ? "false" : random.pick(pool),
      ...(random.chance(0.3) && { message: random.pick(["told", " padded "]) }),
      ...(random.chance(0.6) && { messageExpression: random.pick(MESSAGES) }),
      ...(random.chance(0.4) && { reason: random.pick(["Forbidden", "Invalid", "RequestEntityTooLarge"]) }),
    });
    const auditAnnotations = random.chance(0.2)
      ? [
          {
            key: "k",
            valueExpression: random.pick(["'v'", "null", "object.metadata.name + ''", "string(object.missing)"]),
          },
        ]
      : [];
    return {
      validations: [validation(), ...random.some(2, validation)],
      ...(auditAnnotations.length > 0 && { auditAnnotations }),
    };
  }

  #mutations(): JsonObject {
    const random = this.#random;
    const mutation = () =>
      random.chance(0.65)
        ? { patchType: "ApplyConfiguration", applyConfiguration: { expression: random.pick(APPLIED) } }
        : { patchType: "JSONPatch", jsonPatch: { expression: random.pick(PATCHES) } };
    return {
      reinvocationPolicy: random.pick(["Never", "IfNeeded"]),
      mutations: [mutation(), ...random.some(1, mutation)],
    };
  }

  request(slot: string): FuzzedRequest {
    const random = this.#random;
    const kind = random.pick(KINDS);
    const { isCluster = false } = kind;
    const base = isCluster ? slot : "base";
    const chosen = random.chance(0.6) ? { a: random.pick(["1", "2"]) } : undefined;
    const labels = isCluster ? { ...chosen, slot } : chosen;
    const path = kind.path(slot);
    const query = `?dryRun=All${random.chance(0.5) ? "&fieldManager=fuzz" : ""}`;
    const merge = "application/merge-patch+json";
    const metadata = (name: string) => ({ name, ...(labels && { labels }) });
    const made = (name: string) => ({ ...kind.identity, metadata: metadata(name), ...kind.body(random) });
    switch (random.below(kind.subresources.length > 0 ? 8 : 7)) {
      case 0:
      case 1:
        return { method: "POST", path: `${path}${query}`, body: made("new") };
      case 2:
        return { method: "PUT", path: `${path}/${base}${query}`, body: made(base) };
      case 3:
        return {
          method: "PATCH",
          path: `${path}/${base}${query}`,
          type: merge,
          body: { metadata: { labels: labels ?? null }, ...kind.change(random) },
        };
      case 4: {
        const applied = { ...kind.identity, metadata: metadata(random.pick([base, "new"])), ...kind.body(random) };
        const manager = "?dryRun=All&fieldManager=fuzz&force=true";
        return {
          method: "PATCH",
          path: `${path}/${applied.metadata.name}${manager}`,
          type: "application/apply-patch+yaml",
          body: applied,
        };
      }
      case 5:
        return {
          method: "DELETE",
          path: `${path}/${base}${query}${random.chance(0.3) ? "&propagationPolicy=Background&gracePeriodSeconds=3" : ""}`,
        };
      case 6:
        return random.chance(0.3) && !isCluster
          ? { method: "DELETE", path: `${path}${query}` }
          : {
              method: "POST",
              path: `${path}${query}`,
              body: { ...made("new"), metadata: { generateName: "new-", ...(labels && { labels }) } },
            };
      default: {
        const { name, method, type, body } = random.pick(kind.subresources);
        return { method, path: `${path}/${base}/${name}${query}`, ...(type !== undefined && { type }), body };
      }
    }
  }
}

interface FuzzedKind {
  readonly identity: { readonly apiVersion: string; readonly kind: string };
  path(namespace: string): string;
  body(random: Random): JsonObject;
  change(random: Random): JsonObject;
  readonly isCluster?: boolean;
  readonly subresources: readonly {
    readonly name: string;
    readonly method: string;
    readonly type?: string;
    readonly body: JsonObject;
  }[];
}

const MERGE = "application/merge-patch+json";
const template = (image: string) => ({
  metadata: { labels: { app: "a" } },
  spec: { automountServiceAccountToken: false, containers: [{ name: "a", image }] },
});
const scaler = (version: string): FuzzedKind => ({
  identity: { apiVersion: `autoscaling/${version}`, kind: "HorizontalPodAutoscaler" },
  path: (namespace) => `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers`,
  body: (random) => ({
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "base" },
      maxReplicas: 2 + random.below(9),
    },
  }),
  change: (random) => ({ spec: { maxReplicas: 2 + random.below(9) } }),
  subresources: [
    { name: "status", method: "PATCH", type: MERGE, body: { status: { currentReplicas: 3, desiredReplicas: 4 } } },
  ],
});

/** What is written, and in which versions. */
export const KINDS: readonly FuzzedKind[] = [
  {
    identity: { apiVersion: "v1", kind: "ConfigMap" },
    path: (namespace) => `/api/v1/namespaces/${namespace}/configmaps`,
    body: (random) =>
      random.chance(0.7) ? { data: { k1: random.pick(["a", "b"]), ...(random.chance(0.3) && { other: "x" }) } } : {},
    change: (random) => ({ data: { k1: random.pick(["c", null]) } }),
    subresources: [],
  },
  {
    identity: { apiVersion: "apps/v1", kind: "Deployment" },
    path: (namespace) => `/apis/apps/v1/namespaces/${namespace}/deployments`,
    body: (random) => ({
      spec: {
        ...(random.chance(0.6) && { replicas: random.below(6) }),
        selector: { matchLabels: { app: "a" } },
        template: template(random.pick(["image", "image:1"])),
      },
    }),
    change: (random) => ({ spec: { replicas: random.below(6) } }),
    subresources: [
      { name: "scale", method: "PATCH", type: MERGE, body: { spec: { replicas: 4 } } },
      { name: "status", method: "PATCH", type: MERGE, body: { status: { observedGeneration: 3 } } },
    ],
  },
  {
    identity: { apiVersion: "v1", kind: "Pod" },
    path: (namespace) => `/api/v1/namespaces/${namespace}/pods`,
    body: (random) => ({ spec: template(random.pick(["image", "image:1"])).spec }),
    change: () => ({ metadata: { annotations: { changed: "yes" } } }),
    subresources: [
      { name: "status", method: "PATCH", type: MERGE, body: { status: { reason: "Fuzzed" } } },
      {
        name: "eviction",
        method: "POST",
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "base" } },
      },
      {
        name: "binding",
        method: "POST",
        body: { apiVersion: "v1", kind: "Binding", metadata: { name: "base" }, target: { kind: "Node", name: "n" } },
      },
    ],
  },
  scaler("v1"),
  scaler("v2"),
  {
    identity: { apiVersion: "v1", kind: "Namespace" },
    isCluster: true,
    path: () => "/api/v1/namespaces",
    body: () => ({}),
    change: () => ({ metadata: { annotations: { changed: "yes" } } }),
    subresources: [{ name: "status", method: "PATCH", type: MERGE, body: { metadata: { annotations: { a: "b" } } } }],
  },
];
