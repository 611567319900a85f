import type { JsonObject } from "../../src/base/api/object.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { Random } from "./random.ts";

const BASE = "/apis/flowcontrol.apiserver.k8s.io/v1";
const FLOW_SCHEMA = "x-kubernetes-pf-flowschema-uid";
const PRIORITY_LEVEL = "x-kubernetes-pf-prioritylevel-uid";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly user: string;
  readonly groups: readonly string[];
}

/** A request that the two servers put into different FlowSchemas or priority levels. */
export interface FlowDifference {
  readonly sent: Sent;
  readonly theirs: string;
  readonly ours: string;
}

/** What a run found. */
export interface FlowFindings {
  readonly seed: number;
  readonly requests: number;
  /** How many requests each FlowSchema got. */
  readonly schemas: ReadonlyMap<string, number>;
  readonly found: readonly FlowDifference[];
}

/** The real kube-apiserver and Binnacle with the same FlowSchemas. */
export class FlowTwins {
  readonly #servers: readonly { kill(): Promise<void> }[];
  readonly clients: readonly [theirs: Client, ours: Client];

  constructor(oracle: Oracle, binnacle: RunningBinnacle) {
    this.#servers = [oracle, binnacle];
    this.clients = [clientFor(oracle.base, tokens.admin), clientFor(binnacle.base, tokens.admin)];
  }

  static async start(): Promise<FlowTwins> {
    const [oracle, binnacle] = await Promise.all([
      startOracle(),
      startBinnacle({ flags: ["--authorization-mode=RBAC", "--custom-objects=defined"] }),
    ]);
    return new FlowTwins(oracle, binnacle);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.kill()));
  }
}

const USERS = ["alice", "bob", "system:serviceaccount:team:robot", "system:serviceaccount:team-b:robot"];
const SYSTEM_USERS = ["system:kube-controller-manager", "system:kube-scheduler", "system:node:n1"];
const GROUPS = ["developers", "operators", "system:nodes", "system:serviceaccounts"];
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const API_GROUPS = ["", "apps", "coordination.k8s.io", "batch"];
const RESOURCES: readonly (readonly [root: string, plural: string, isNamespaced: boolean])[] = [
  ["/api/v1", "pods", true],
  ["/api/v1", "configmaps", true],
  ["/api/v1", "nodes", false],
  ["/api/v1", "namespaces", false],
  ["/apis/apps/v1", "deployments", true],
  ["/apis/coordination.k8s.io/v1", "leases", true],
  ["/apis/example.com/v1", "widgets", true],
];
const RESOURCE_NAMES = [
  "pods",
  "pods/status",
  "nodes",
  "nodes/status",
  "leases",
  "deployments",
  "namespaces",
  "widgets",
];
const NAMESPACES = ["team", "team-b", "default", "kube-system"];
const PATHS = ["/healthz", "/healthz/ping", "/livez", "/version", "/version/x", "/openapi/v2", "/apis", "/api", "/x/y"];
const RULE_PATHS = [...PATHS, "/healthz/*", "/version/*", "/x/*"];

/** Some of the values, or all of them by `*`. */
function several(random: Random, values: readonly string[]): string[] {
  if (random.chance(0.3)) return ["*"];
  return [...new Set(Array.from({ length: 1 + random.below(3) }, () => random.pick(values)))];
}

function randomSubject(random: Random): JsonObject {
  const kind = random.pick(["User", "Group", "ServiceAccount"]);
  if (kind === "User") return { kind, user: { name: random.pick([...USERS, ...SYSTEM_USERS, "*"]) } };
  if (kind === "Group") return { kind, group: { name: random.pick([...GROUPS, "system:authenticated", "*"]) } };
  const name = random.pick(["robot", "*", "other"]);
  return { kind, serviceAccount: { namespace: random.pick(["team", "tea", "kube-system"]), name } };
}

function randomRule(random: Random): JsonObject {
  const hasResources = random.chance(0.7);
  const resourceRule = (): JsonObject => {
    const clusterScope = random.chance(0.5);
    const hasNamespaces = !clusterScope || random.chance(0.6);
    return {
      verbs: several(random, VERBS),
      apiGroups: several(random, API_GROUPS),
      resources: several(random, RESOURCE_NAMES),
      ...(clusterScope && { clusterScope }),
      ...(hasNamespaces && { namespaces: several(random, NAMESPACES) }),
    };
  };
  const pathRule = (): JsonObject => ({ verbs: several(random, VERBS), nonResourceURLs: several(random, RULE_PATHS) });
  return {
    subjects: Array.from({ length: 1 + random.below(3) }, () => randomSubject(random)),
    ...(hasResources && { resourceRules: Array.from({ length: 1 + random.below(2) }, resourceRule) }),
    ...((!hasResources || random.chance(0.4)) && { nonResourceRules: [pathRule()] }),
  };
}

function randomSchema(random: Random, name: string, levels: readonly string[]): JsonObject {
  const type = random.pick(["ByUser", "ByNamespace", ""]);
  return {
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: random.pick([...levels, "workload-low", "exempt", "missing"]) },
      matchingPrecedence: random.pick([3, 50, 450, 600, 850, 1000, 5000, 9999]),
      ...(type !== "" && { distinguisherMethod: { type } }),
      rules: Array.from({ length: 1 + random.below(2) }, () => randomRule(random)),
    },
  };
}

function randomLevel(random: Random, name: string): JsonObject {
  const queuing = { queues: random.pick([1, 8, 64]), handSize: 1, queueLengthLimit: 10 };
  const limitResponse = random.chance(0.3) ? { type: "Reject" } : { type: "Queue", queuing };
  return { metadata: { name }, spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse } } };
}

function randomRequest(random: Random): Sent {
  const user = random.pick(random.chance(0.7) ? USERS : SYSTEM_USERS);
  const groups = [...new Set([...random.some(2, () => random.pick(GROUPS)), "system:authenticated"])];
  const method = random.pick(["GET", "GET", "POST", "PUT", "PATCH", "DELETE"]);
  if (random.chance(0.25)) return { method, path: random.pick(PATHS), user, groups };
  const [root, plural, isNamespaced] = random.pick(RESOURCES);
  const isNamed = random.chance(0.6);
  const scope = isNamespaced && (isNamed || random.chance(0.7)) ? `/namespaces/${random.pick(NAMESPACES)}` : "";
  const name = isNamed ? `/${random.pick(["a", "b"])}${random.chance(0.3) ? "/status" : ""}` : "";
  // Nothing is changed: the writes are dry or invalid, and the watches fail.
  const query = isNamed ? "?dryRun=All" : random.pick(["?resourceVersion=none", "?watch=1&resourceVersion=none"]);
  return { method, path: `${root}${scope}/${plural}${name}${query}`, user, groups };
}

/** The names of the FlowSchema and priority level of a request. */
async function classify(client: Client, sent: Sent, names: ReadonlyMap<string, string>): Promise<string> {
  const { method, path, user, groups } = sent;
  const headers = { "impersonate-user": user, "impersonate-group": groups as unknown as string };
  const body = ["POST", "PUT", "PATCH"].includes(method) ? {} : undefined;
  const answer = await client.call(method, path, body, headers);
  const nameOf = (header: string): string => {
    const uid = answer.headers[header];
    return typeof uid === "string" ? (names.get(uid) ?? `unknown ${uid}`) : "none";
  };
  return `${nameOf(FLOW_SCHEMA)} in ${nameOf(PRIORITY_LEVEL)}`;
}

async function namesOf(client: Client): Promise<ReadonlyMap<string, string>> {
  const lists = await Promise.all(
    ["flowschemas", "prioritylevelconfigurations"].map((plural) => client.call("GET", `${BASE}/${plural}`)),
  );
  const items = lists.flatMap(({ body }) => body.items as { metadata: { uid: string; name: string } }[]);
  return new Map(items.map(({ metadata }) => [metadata.uid, metadata.name]));
}

/** Sends random requests of random users to both servers, with new FlowSchemas in each round. */
export async function fuzzFlows(twins: FlowTwins, seed: number, requests: number): Promise<FlowFindings> {
  const random = new Random(seed);
  const found: FlowDifference[] = [];
  const schemas = new Map<string, number>();
  let sent = 0;
  for (let round = 0; sent < requests; round++) {
    const prefix = `fuzz-${round}`;
    const levels = Array.from({ length: 2 }, (_, index) => randomLevel(random, `${prefix}-level-${index}`));
    const levelNames = levels.map(({ metadata }) => (metadata as { name: string }).name);
    const made = Array.from({ length: 8 }, (_, index) => randomSchema(random, `${prefix}-${index}`, levelNames));
    await Promise.all(twins.clients.map((client) => apply(client, levels, made, `${prefix}-probe`)));
    const names = await Promise.all(twins.clients.map(namesOf));
    for (let count = 0; count < REQUESTS_PER_ROUND && sent < requests; count++, sent++) {
      const request = randomRequest(random);
      const [theirs = "", ours = ""] = await Promise.all(
        twins.clients.map((client, index) => classify(client, request, names[index] ?? new Map())),
      );
      const schema = theirs.replace(/^fuzz-\d+-/, "fuzz-").split(" ")[0] ?? "";
      schemas.set(schema, (schemas.get(schema) ?? 0) + 1);
      if (theirs !== ours) found.push({ sent: request, theirs, ours });
    }
    await Promise.all(twins.clients.map((client) => remove(client, prefix)));
  }
  return { seed, requests: sent, schemas, found };
}

const REQUESTS_PER_ROUND = 50;

/** Creates the objects, and waits until the server uses the last one. */
async function apply(client: Client, levels: JsonObject[], schemas: JsonObject[], probe: string): Promise<void> {
  const [level] = levels;
  if (level === undefined) throw new Error("a round needs a priority level");
  const post = async (plural: string, object: JsonObject): Promise<void> => {
    const { status, body } = await client.call("POST", `${BASE}/${plural}`, object);
    if (status !== 201) throw new Error(JSON.stringify(body));
  };
  for (const one of levels) await post("prioritylevelconfigurations", one);
  for (const schema of schemas) await post("flowschemas", schema);
  await post("flowschemas", {
    metadata: { name: probe },
    spec: {
      priorityLevelConfiguration: { name: (level.metadata as { name: string }).name },
      matchingPrecedence: 2,
      rules: [
        {
          subjects: [{ kind: "User", user: { name: probe } }],
          nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
        },
      ],
    },
  });
  const names = await namesOf(client);
  const sent = { method: "GET", path: "/version", user: probe, groups: ["system:authenticated"] };
  await eventually(async () => (await classify(client, sent, names)).startsWith(`${probe} `));
}

async function remove(client: Client, prefix: string): Promise<void> {
  for (const plural of ["flowschemas", "prioritylevelconfigurations"]) {
    const { body } = await client.call("GET", `${BASE}/${plural}`);
    for (const { metadata } of body.items as { metadata: { name: string } }[]) {
      if (metadata.name.startsWith(`${prefix}-`)) await client.call("DELETE", `${BASE}/${plural}/${metadata.name}`);
    }
  }
}

/** A report of a run, for people. */
export function printFlows({ seed, requests, schemas, found }: FlowFindings): string {
  const spread = [...schemas].map(([name, count]) => `${name} ${count}`).join(", ");
  const lines = found.map(
    ({ sent, theirs, ours }) => `${JSON.stringify(sent)}\n  theirs: ${theirs}\n  ours:   ${ours}`,
  );
  return [`seed ${seed}: ${requests} requests, ${found.length} different (${spread})`, ...lines].join("\n");
}

if (import.meta.main) {
  const twins = await FlowTwins.start();
  try {
    const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 100_000);
    const findings = await fuzzFlows(twins, seed, Number(process.argv[2] ?? 500));
    process.stdout.write(`${printFlows(findings)}\n`);
    if (findings.found.length > 0) process.exitCode = 1;
  } finally {
    await twins.stop();
  }
}
