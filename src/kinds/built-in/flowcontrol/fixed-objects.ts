import type { Json, JsonObject, KubeObject } from "../../../base/api/object.ts";

/** FlowSchemas and PriorityLevelConfigurations that the server maintains, in the order of their creation. */
export interface FixedObjects {
  readonly levels: readonly KubeObject[];
  readonly schemas: readonly KubeObject[];
}

/** The annotation that allows the server to update the object's spec. */
export const AUTO_UPDATE = "apf.kubernetes.io/autoupdate-spec";

const API_VERSION = "flowcontrol.apiserver.k8s.io/v1";

function fixed(kind: string, name: string, spec: JsonObject): KubeObject {
  return { kind, apiVersion: API_VERSION, metadata: { name, annotations: { [AUTO_UPDATE]: "true" } }, spec };
}

function level(name: string, spec: JsonObject): KubeObject {
  return fixed("PriorityLevelConfiguration", name, spec);
}

/** A Limited PriorityLevelConfiguration with queuing: nominalConcurrencyShares, lendablePercent, and its queues. */
function queuingLevel(name: string, shares: number, lendable: number, queues: number, handSize = 6): KubeObject {
  const limitResponse = { type: "Queue", queuing: { queues, handSize, queueLengthLimit: 50 } };
  return level(name, {
    type: "Limited",
    limited: { nominalConcurrencyShares: shares, limitResponse, lendablePercent: lendable },
  });
}

const groups = (...names: readonly string[]): Json[] => names.map((name) => ({ kind: "Group", group: { name } }));
const users = (...names: readonly string[]): Json[] => names.map((name) => ({ kind: "User", user: { name } }));
const SYSTEM_ACCOUNTS: Json = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };
const EVERYBODY = groups("system:unauthenticated", "system:authenticated");
const MANAGER = "system:kube-controller-manager";
const SCHEDULER = "system:kube-scheduler";

/** A ResourcePolicyRule for all namespaces and the cluster scope. */
function resources(verbs: string[], apiGroup: string, names: string[], isClusterScope = true): Json {
  const scope = isClusterScope ? { clusterScope: true } : {};
  return { verbs, apiGroups: [apiGroup], resources: names, ...scope, namespaces: ["*"] };
}

const LEASES = "coordination.k8s.io";
const ANYTHING: JsonObject = {
  resourceRules: [resources(["*"], "*", ["*"])],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};

interface FixedSchema {
  readonly name: string;
  readonly level: string;
  readonly precedence: number;
  readonly by?: "ByUser" | "ByNamespace";
  readonly subjects: Json[];
  readonly rules?: JsonObject;
}

function schema({ name, level: levelName, precedence, by, subjects, rules = ANYTHING }: FixedSchema): KubeObject {
  return fixed("FlowSchema", name, {
    priorityLevelConfiguration: { name: levelName },
    matchingPrecedence: precedence,
    ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
    rules: [{ subjects, ...rules }],
  });
}

/** The mandatory objects of API priority and fairness (exempt, catch-all). Their spec is immutable. */
export const mandatoryObjects: FixedObjects = {
  levels: [
    level("exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
    level("catch-all", {
      type: "Limited",
      limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
    }),
  ],
  schemas: [
    schema({ name: "exempt", level: "exempt", precedence: 1, subjects: groups("system:masters") }),
    schema({ name: "catch-all", level: "catch-all", precedence: 10_000, by: "ByUser", subjects: EVERYBODY }),
  ],
};

/** The suggested objects of API priority and fairness. Users may change them. */
export const suggestedObjects: FixedObjects = {
  levels: [
    queuingLevel("system", 30, 33, 64),
    queuingLevel("node-high", 40, 25, 64),
    queuingLevel("leader-election", 10, 0, 16, 4),
    queuingLevel("workload-high", 40, 50, 128),
    queuingLevel("workload-low", 100, 90, 128),
    queuingLevel("global-default", 20, 50, 128),
  ],
  schemas: [
    schema({ name: "system-nodes", level: "system", precedence: 500, by: "ByUser", subjects: groups("system:nodes") }),
    schema({
      ...{ name: "system-node-high", level: "node-high", precedence: 400, by: "ByUser" },
      subjects: groups("system:nodes"),
      rules: {
        resourceRules: [resources(["*"], "", ["nodes", "nodes/status"]), resources(["*"], LEASES, ["leases"], false)],
      },
    }),
    schema({
      ...{ name: "probes", level: "exempt", precedence: 2 },
      subjects: EVERYBODY,
      rules: { nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }] },
    }),
    schema({
      ...{ name: "system-leader-election", level: "leader-election", precedence: 100, by: "ByUser" },
      subjects: [...users(MANAGER, SCHEDULER), SYSTEM_ACCOUNTS],
      rules: { resourceRules: [resources(["get", "create", "update"], LEASES, ["leases"], false)] },
    }),
    schema({
      ...{ name: "kube-controller-manager", level: "workload-high", precedence: 800, by: "ByNamespace" },
      subjects: users(MANAGER),
    }),
    schema({
      ...{ name: "kube-scheduler", level: "workload-high", precedence: 800, by: "ByNamespace" },
      subjects: users(SCHEDULER),
    }),
    schema({
      ...{ name: "kube-system-service-accounts", level: "workload-high", precedence: 900, by: "ByNamespace" },
      subjects: [SYSTEM_ACCOUNTS],
    }),
    schema({
      ...{ name: "service-accounts", level: "workload-low", precedence: 9000, by: "ByUser" },
      subjects: groups("system:serviceaccounts"),
    }),
    schema({
      ...{ name: "global-default", level: "global-default", precedence: 9900, by: "ByUser" },
      subjects: EVERYBODY,
    }),
  ],
};
