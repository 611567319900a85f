import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../src/base/api/object.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { Random } from "./random.ts";
import { SHAPES } from "./role-shapes.ts";

const RBAC = "rbac.authorization.k8s.io";
const NAMESPACE = "authz";
const KINDS = ["User", "Group", "ServiceAccount", "Node"] as const;
type SubjectKind = (typeof KINDS)[number];

interface Asker {
  readonly user: string;
  readonly groups: readonly string[];
  /** More than one binding may allow the same: which one is told is chance on the real server. */
  readonly isMixed: boolean;
}

interface Question {
  readonly asker: Asker;
  readonly verb: string;
  readonly path?: string;
  readonly resource?: JsonObject;
}

/** A decision that the two servers did not agree on. */
export interface Disagreement {
  readonly question: Question;
  readonly by: "review" | "request";
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** What a run found. */
export interface DecisionFindings {
  readonly seed: number;
  readonly decisions: number;
  readonly allowed: number;
  readonly found: readonly Disagreement[];
}

/** The real kube-apiserver and Binnacle with the same roles and bindings. */
export class DecisionTwins {
  readonly #servers: readonly { kill(): Promise<void> }[];
  readonly clients: readonly [theirs: Client, ours: Client];

  constructor(oracle: Oracle, binnacle: RunningBinnacle) {
    this.#servers = [oracle, binnacle];
    this.clients = [clientFor(oracle.base, tokens.admin), clientFor(binnacle.base, tokens.admin)];
  }

  /** Starts both and makes the roles; resolves when both decide by them. */
  static async start(): Promise<DecisionTwins> {
    const [oracle, binnacle] = await Promise.all([
      // The oracle has RBAC already; a further mode is added to it.
      startOracle({ flags: ["--authorization-mode=Node", "--enable-admission-plugins=NodeRestriction"] }),
      startBinnacle({ flags: ["--authorization-mode=RBAC,Node", "--custom-objects=defined"] }),
    ]);
    const twins = new DecisionTwins(oracle, binnacle);
    await Promise.all(twins.clients.map((client) => makeRoles(client)));
    return twins;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.kill()));
  }
}

const nameOf = (index: number): string => `shape-${index}`;

function subjectOf(kind: SubjectKind, index: number): JsonObject {
  const name = nameOf(index);
  if (kind === "ServiceAccount") return { kind, name, namespace: NAMESPACE };
  if (kind === "Node") return { kind: "User", apiGroup: RBAC, name: `system:node:${name}` };
  return { kind, apiGroup: RBAC, name };
}

async function makeRoles(client: Client): Promise<void> {
  await client.call("POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  const base = `/apis/${RBAC}/v1`;
  const own = `${base}/namespaces/${NAMESPACE}`;
  for (const [index, { by, rules, isDangling }] of SHAPES.entries()) {
    const metadata = { name: nameOf(index) };
    const roleKind = by === "namespace" ? "Role" : "ClusterRole";
    if (!isDangling)
      await client.call("POST", by === "namespace" ? `${own}/roles` : `${base}/clusterroles`, { metadata, rules });
    const path = by === "cluster" ? `${base}/clusterrolebindings` : `${own}/rolebindings`;
    const roleRef = { apiGroup: RBAC, kind: roleKind, name: nameOf(index) };
    const subjects = KINDS.map((kind) => subjectOf(kind, index));
    await client.call("POST", path, { metadata, roleRef, subjects });
  }
  await makePods(client);
  const last = { user: nameOf(SHAPES.length - 1), groups: [], isMixed: false };
  const resource = { resource: "roles", group: RBAC, namespace: NAMESPACE };
  await eventually(async () => (await review(client, { asker: last, verb: "bind", resource })).allowed === true);
}

/** What relates objects to nodes: a pod on two of them, and a volume of its claim. */
async function makePods(client: Client): Promise<void> {
  const own = `/api/v1/namespaces/${NAMESPACE}`;
  await client.call("POST", `${own}/serviceaccounts`, { metadata: { name: "a" } });
  for (const node of ["shape-0", "shape-2", "shape-10"]) {
    const env = [{ name: "e", valueFrom: { configMapKeyRef: { name: "a", key: "k" } } }];
    const answer = await client.call("POST", `${own}/pods`, {
      metadata: { name: node === "shape-0" ? "a" : node },
      spec: {
        nodeName: node,
        serviceAccountName: "a",
        automountServiceAccountToken: false,
        containers: [{ name: "c", image: "i", env, envFrom: [{ secretRef: { name: "b" } }] }],
        imagePullSecrets: [{ name: "c" }],
        resourceClaims: [{ name: "r", resourceClaimName: "a" }],
        volumes: [
          { name: "claim", persistentVolumeClaim: { claimName: "a" } },
          { name: "shape", ephemeral: { volumeClaimTemplate: { spec: PVC } } },
          { name: "p", projected: { sources: [{ secret: { name: "shape-0" } }, { configMap: { name: "c" } }] } },
        ],
      },
    });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  }
  const volume = await client.call("POST", "/api/v1/persistentvolumes", {
    metadata: { name: "a" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      claimRef: { namespace: NAMESPACE, name: "a" },
      csi: { driver: "d", volumeHandle: "h", nodeStageSecretRef: { namespace: "default", name: "a" } },
    },
  });
  const attachment = await client.call("POST", "/apis/storage.k8s.io/v1/volumeattachments", {
    metadata: { name: "b" },
    spec: { attacher: "d", nodeName: "shape-2", source: { persistentVolumeName: "a" } },
  });
  for (const { status, body } of [volume, attachment]) if (status !== 201) throw new Error(JSON.stringify(body));
  const asker = { user: "system:node:shape-2", groups: ["system:nodes"], isMixed: false };
  for (const resource of [
    { resource: "volumeattachments", group: "storage.k8s.io", name: "b" },
    { resource: "secrets", namespace: "default", name: "a" },
  ]) {
    await eventually(async () => (await review(client, { asker, verb: "get", resource })).allowed === true);
  }
}

const PVC = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** Sends random questions to both, as reviews and as the requests themselves, until so many are decided. */
export async function fuzzDecisions(twins: DecisionTwins, seed: number, decisions: number): Promise<DecisionFindings> {
  const random = new Random(seed);
  const found: Disagreement[] = [];
  let decided = 0;
  let allowed = 0;
  const worker = async () => {
    while (decided < decisions && found.length < MOST_FINDINGS) {
      decided += 1;
      const question = randomQuestion(random);
      const by = random.chance(0.5) ? "review" : "request";
      const ask = by === "review" ? review : request;
      const [theirs, ours] = await Promise.all(twins.clients.map((client) => ask(client, question)));
      if (theirs?.allowed === true) allowed += 1;
      if (!isDeepStrictEqual(theirs, ours)) found.push({ question, by, theirs, ours });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { seed, decisions: decided, allowed, found };
}

const CONCURRENCY = 16;
const MOST_FINDINGS = 20;

const RESOURCES: readonly (readonly [group: string, resource: string, isNamespaced: boolean])[] = [
  ["", "pods", true],
  ["", "secrets", true],
  ["", "configmaps", true],
  ["", "namespaces", false],
  ["", "nodes", false],
  ["apps", "deployments", true],
  [RBAC, "roles", true],
  [RBAC, "clusterroles", false],
  ["example.com", "widgets", true],
];
/** What nodes have rules of their own for. */
const NODE_RESOURCES: typeof RESOURCES = [
  ["", "pods", true],
  ["", "secrets", true],
  ["", "configmaps", true],
  ["", "persistentvolumeclaims", true],
  ["", "serviceaccounts", true],
  ["", "persistentvolumes", false],
  ["", "nodes", false],
  ["", "services", true],
  ["coordination.k8s.io", "leases", true],
  ["storage.k8s.io", "csinodes", false],
  ["storage.k8s.io", "volumeattachments", false],
  ["resource.k8s.io", "resourceclaims", true],
  ["resource.k8s.io", "resourceslices", false],
  ["certificates.k8s.io", "podcertificaterequests", true],
];
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const OTHER_VERBS = ["*", "bind", "escalate", "use", "Get", ""];
const SUBRESOURCES = ["", "", "", "", "", "status", "token", "log", "scale", "eviction", "exec", "x"];
const NAMES = ["", "a", "b", "c", "shape-0"];
const SELECTORS = ["a", "b", "", "x/y"].map((name) => `metadata.name=${name}`);
SELECTORS.push("spec.nodeName=shape-0", "spec.nodeName=shape-2,metadata.name=a", "spec.nodeName!=shape-0", "a=,=");
const PATHS = [
  "/healthz",
  "/healthz/ping",
  "/healthz/",
  "/metrics",
  "/met",
  "/api",
  "/apis",
  "/apix/x",
  "/version",
  "/",
  "/openapi/v2",
  "/x/x",
  "/logs/&<x>",
];
const METHODS = ["get", "post", "put", "delete", "patch"];

function randomAsker(random: Random): Asker {
  const index = random.below(SHAPES.length + 1);
  const name = nameOf(index);
  const kind = random.pick([...KINDS, "several"] as const);
  if (kind === "several") {
    const groups = Array.from({ length: 3 }, () => nameOf(random.below(SHAPES.length)));
    return { user: name, groups: [...new Set(groups)], isMixed: true };
  }
  if (kind === "Group") return { user: "somebody", groups: [name], isMixed: false };
  if (kind === "ServiceAccount")
    return { user: `system:serviceaccount:${NAMESPACE}:${name}`, groups: [], isMixed: false };
  if (kind === "Node" && random.chance(0.7)) {
    const node = random.pick(["shape-0", "shape-2", "shape-10", "none", ""]);
    return { user: `system:node:${node}`, groups: ["system:nodes"], isMixed: false };
  }
  if (kind === "Node") return { user: `system:node:${name}`, groups: ["system:nodes"], isMixed: false };
  return { user: name, groups: [], isMixed: false };
}

function randomQuestion(random: Random): Question {
  const asker = randomAsker(random);
  if (random.chance(0.2)) return { asker, verb: random.pick(METHODS), path: random.pick(PATHS) };
  const isNode = asker.groups.includes("system:nodes");
  const [group, resource, isNamespaced] = random.pick(isNode ? NODE_RESOURCES : RESOURCES);
  const verb = random.pick(VERBS);
  const places = [NAMESPACE, NAMESPACE, "default", "", ...(isNode ? ["kube-node-lease"] : [])];
  const namespace = isNamespaced ? random.pick(places) : "";
  const isSelected = random.chance(0.2);
  return {
    asker,
    verb: random.chance(0.05) ? random.pick(OTHER_VERBS) : verb,
    resource: {
      group,
      version: "v1",
      resource,
      subresource: random.pick(SUBRESOURCES),
      namespace,
      name: random.pick(NAMES),
      ...(isSelected && { fieldSelector: { rawSelector: random.pick(SELECTORS) } }),
    },
  };
}

interface Outcome {
  readonly allowed: boolean;
  readonly [member: string]: unknown;
}

/** The answer to a SubjectAccessReview. */
async function review(client: Client, { asker, verb, path, resource }: Question): Promise<Outcome> {
  const { user, groups, isMixed } = asker;
  const about =
    path === undefined ? { resourceAttributes: { ...resource, verb } } : { nonResourceAttributes: { path, verb } };
  const { status, body } = await client.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    spec: { user, groups, ...about },
  });
  if (status !== 201) return { allowed: false, status, message: body.message };
  const { allowed, reason, ...rest } = body.status;
  return { allowed, ...rest, reason: isMixed ? tellable(allowed, reason) : reason };
}

/** Errors come in the order of bindings, which is chance on the real server; so is which of several bindings is named. */
function tellable(allowed: boolean, reason: string | undefined): string | undefined {
  if (allowed) return "allowed";
  return reason?.replace(/\[(.*)\]/s, (_, list: string) => list.split(", ").sort().join(", "));
}

const METHOD_OF: Readonly<Record<string, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
};

/** Whether the request itself is refused, and how. Whatever is not refused changes nothing: it is invalid, or dry. */
async function request(client: Client, { asker, verb, path, resource }: Question): Promise<Outcome> {
  const headers: Record<string, string> = { "impersonate-user": asker.user };
  if (asker.groups.length > 0) headers["impersonate-group"] = asker.groups as unknown as string;
  if (path !== undefined)
    return outcomeOf(await client.call(verb.toUpperCase(), encodeURI(path), undefined, headers), asker);
  const { group, namespace, name, subresource, fieldSelector } = resource as Record<string, string>;
  const isCollection = ["list", "watch", "create", "deletecollection"].includes(verb);
  const root = group === "" ? "/api/v1" : `/apis/${group}/v1`;
  const scope = namespace === "" ? "" : `/namespaces/${namespace}`;
  const object = isCollection ? "" : `/${name || "z"}${subresource ? `/${subresource}` : ""}`;
  const query = new URLSearchParams({ dryRun: "All" });
  if (verb === "watch") query.set("watch", "true");
  if (verb === "watch" || verb === "list") query.set("resourceVersion", "none");
  if (verb === "deletecollection") query.set("labelSelector", "none=of-them");
  if (fieldSelector) query.set("fieldSelector", (fieldSelector as unknown as { rawSelector: string }).rawSelector);
  const method = METHOD_OF[verb] ?? "GET";
  const body = ["POST", "PUT", "PATCH"].includes(method) ? {} : undefined;
  if (method === "PATCH") headers["content-type"] = "application/merge-patch+json";
  const answer = await client.call(method, `${root}${scope}/${resource?.resource}${object}?${query}`, body, headers);
  return outcomeOf(answer, asker, STREAMS.includes(subresource ?? ""));
}

/** Subresources that stream: Binnacle lets them pass authorization, and serves none of them yet. */
const STREAMS = ["log", "exec"];

function outcomeOf({ status, body, headers }: Answer, { isMixed }: Asker, isStream = false): Outcome {
  if (status !== 403) return isStream ? { allowed: true } : { allowed: true, status };
  const { message, ...rest } = body as JsonObject;
  const text = isMixed ? tellable(false, String(message)) : message;
  return { allowed: false, message: text, ...rest, type: headers["content-type"] };
}

/** The findings in words. */
export function printDecisions({ seed, decisions, allowed, found }: DecisionFindings): string {
  const lines = found.map((one) => JSON.stringify(one));
  return [`seed ${seed}: ${decisions} decisions, ${allowed} allowed, ${found.length} differences`, ...lines].join("\n");
}

if (import.meta.main) {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
  const twins = await DecisionTwins.start();
  try {
    const findings = await fuzzDecisions(twins, seed, Number(process.argv[2] ?? 20_000));
    process.stdout.write(`${printDecisions(findings)}\n`);
    if (findings.found.length > 0) process.exitCode = 1;
  } finally {
    await twins.stop();
  }
}
