import { makeKeys, makeRequest, person, printPem } from "../../../src/base/pki/certificates.suite.ts";

/** A request: method, path, body, and for whom it is sent. */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly user?: string;
  readonly groups?: string;
}

/** Requests, and what both clusters must show afterwards. */
export interface Round {
  readonly steps: readonly Step[];
  /** The collections that are compared. */
  readonly collections: readonly string[];
  /** Whether the controllers have done their work. */
  // biome-ignore lint/suspicious/noExplicitAny: objects of any kind
  isDone(objects: Map<string, any>): boolean;
}

const NAMESPACE = "/api/v1/namespaces/default";
const SYSTEM = "/api/v1/namespaces/kube-system";
const PUBLIC = "/api/v1/namespaces/kube-public";
const CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CIDRS = "/apis/networking.k8s.io/v1/servicecidrs";
const ACCOUNT = "kubernetes.io/service-account.name";
const TOKEN = "kubernetes.io/service-account-token";

const post = (path: string, body: object): Step => ({ method: "POST", path, body });
const remove = (path: string): Step => ({ method: "DELETE", path });
const encode = (text: string): string => Buffer.from(text).toString("base64");

const token = (name: string, account: string, more: object = {}, annotations: object = {}): Step =>
  post(`${NAMESPACE}/secrets`, {
    metadata: { name, annotations: { [ACCOUNT]: account, ...annotations } },
    type: TOKEN,
    ...more,
  });

const TOKENS: Round[] = [
  {
    steps: [
      post(`${NAMESPACE}/serviceaccounts`, {
        metadata: { name: "robot" },
        secrets: [{ name: "plain" }, { name: "other" }],
      }),
      token("plain", "robot"),
      token("filled", "robot", { data: { namespace: encode("x"), "ca.crt": encode("y"), more: encode("z") } }),
      token("orphan", "nobody"),
      token("stale", "robot", {}, { "kubernetes.io/service-account.uid": "another" }),
    ],
    collections: [`${NAMESPACE}/secrets`, `${NAMESPACE}/serviceaccounts`],
    isDone: (objects) => objects.get("plain")?.data?.token && objects.get("filled")?.data?.token && objects.size === 3,
  },
  {
    steps: [remove(`${NAMESPACE}/secrets/plain`)],
    collections: [`${NAMESPACE}/secrets`, `${NAMESPACE}/serviceaccounts`],
    isDone: (objects) => objects.get("robot")?.secrets?.length === 1,
  },
  {
    steps: [remove(`${NAMESPACE}/serviceaccounts/robot`)],
    collections: [`${NAMESPACE}/secrets`],
    isDone: (objects) => objects.size === 0,
  },
];

const keys = { ec: makeKeys(), p384: makeKeys("P-384") };

interface Request {
  readonly subject?: readonly [string, string][];
  readonly names?: Parameters<typeof makeRequest>[2];
  readonly signer?: string;
  readonly usages?: string[];
  readonly expirationSeconds?: number;
  readonly key?: keyof typeof keys;
  /** Who asks. Default: the administrator. */
  readonly user?: string;
  readonly groups?: string;
  /** Default: an administrator approves it. */
  readonly isLeft?: boolean;
}

const NODE = person("system:node:a", "system:nodes");
const KUBELET = "kubernetes.io/kube-apiserver-client-kubelet";
const SERVING = "kubernetes.io/kubelet-serving";
const CLIENT = "kubernetes.io/kube-apiserver-client";
const AS_CLIENT = ["digital signature", "key encipherment", "client auth"];
const AS_SERVER = ["digital signature", "key encipherment", "server auth"];
const IP = Buffer.from([10, 1, 2, 3]);
const LONG_IP = Buffer.concat([Buffer.from("fd00", "hex"), Buffer.alloc(13), Buffer.from([7])]);

/** CertificateSigningRequests by name. */
const REQUESTS: Readonly<Record<string, Request>> = {
  client: { signer: CLIENT, subject: person("alice", "dev", "admins") },
  "client-names": {
    signer: CLIENT,
    subject: [
      ["2.5.4.3", "lost"],
      ["2.5.4.6", "DE"],
      ["2.5.4.11", "unit & co"],
      ["2.5.4.7", "Köln"],
      ["2.5.4.8", "NRW"],
      ["2.5.4.9", "Street 1"],
      ["2.5.4.17", "50667"],
      ["2.5.4.5", "0815"],
      ["2.5.4.10", "z"],
      ["2.5.4.10", "longer"],
      ["2.5.4.10", "a"],
      ["0.9.2342.19200300.100.1.25", "com"],
      ["2.5.4.3", "bob@example.com"],
    ],
    names: [
      [7, IP],
      [2, "b.example"],
      [1, "bob@example.com"],
      [6, "spiffe://x/y"],
      [7, LONG_IP],
      [2, "a.example"],
    ],
  },
  "client-nameless": { signer: CLIENT, subject: [], names: [[2, "only.example"]] },
  "client-p384": { signer: CLIENT, subject: person("carol"), key: "p384" },
  "client-short": { signer: CLIENT, subject: person("dave"), expirationSeconds: 600 },
  "client-hours": { signer: CLIENT, subject: person("dave"), expirationSeconds: 7 * 3600 },
  "client-day": { signer: CLIENT, subject: person("dave"), expirationSeconds: 86_400 },
  "client-decade": { signer: CLIENT, subject: person("dave"), expirationSeconds: 315_360_000 },
  "client-serves": { signer: CLIENT, subject: person("eve"), usages: ["server auth", "client auth"] },
  "client-signs": { signer: CLIENT, subject: person("eve"), usages: ["digital signature"] },
  serving: {
    signer: SERVING,
    usages: AS_SERVER,
    names: [
      [2, "a"],
      [7, IP],
    ],
  },
  "serving-ec": { signer: SERVING, usages: ["server auth", "digital signature"], names: [[2, "a"]] },
  "serving-bare": { signer: SERVING, usages: AS_SERVER },
  "serving-mail": {
    signer: SERVING,
    usages: AS_SERVER,
    names: [
      [2, "a"],
      [1, "a@b.c"],
    ],
  },
  "serving-uri": {
    signer: SERVING,
    usages: AS_SERVER,
    names: [
      [2, "a"],
      [6, "urn:a"],
    ],
  },
  "serving-client": { signer: SERVING, usages: AS_CLIENT, names: [[2, "a"]] },
  "serving-group": { signer: SERVING, usages: AS_SERVER, names: [[2, "a"]], subject: person("system:node:a", "x") },
  "serving-name": { signer: SERVING, usages: AS_SERVER, names: [[2, "a"]], subject: person("a", "system:nodes") },
  kubelet: { signer: KUBELET },
  "kubelet-dns": { signer: KUBELET, names: [[2, "a"]] },
  "kubelet-mail": { signer: KUBELET, names: [[1, "a@b.c"]] },
  "kubelet-ip": { signer: KUBELET, names: [[7, IP]] },
  "kubelet-uri": { signer: KUBELET, names: [[6, "urn:a"]] },
  "kubelet-usage": { signer: KUBELET, usages: ["client auth"] },
  "kubelet-name": { signer: KUBELET, subject: person("a", "system:nodes") },
  "kubelet-self": { signer: KUBELET, user: "system:node:a", groups: "system:nodes", isLeft: true },
  "kubelet-first": { signer: KUBELET, user: "system:bootstrap:abcdef", groups: "system:bootstrappers", isLeft: true },
  "kubelet-other": { signer: KUBELET, user: "alice", groups: "dev", isLeft: true },
  foreign: { signer: "example.com/signer", usages: ["any", "s/mime", "cert sign"], subject: person("x") },
};

function request(name: string, one: Request): Step {
  const { subject = NODE, names = [], signer, usages = AS_CLIENT, expirationSeconds, key = "ec", user, groups } = one;
  const pem = printPem("CERTIFICATE REQUEST", makeRequest(keys[key], subject, names));
  const spec = { request: encode(pem), signerName: signer, usages, ...(expirationSeconds && { expirationSeconds }) };
  return { ...post(CSRS, { metadata: { name }, spec }), ...(user && { user, groups }) };
}

const approve = (name: string): Step => ({
  method: "PATCH",
  path: `${CSRS}/${name}/approval`,
  body: { status: { conditions: [{ type: "Approved", status: "True", reason: "Test", message: "by a test" }] } },
});

const API = "rbac.authorization.k8s.io";

const allow = (role: string, ...groups: string[]): Step =>
  post(`${RBAC}/clusterrolebindings`, {
    metadata: { name: role },
    roleRef: { apiGroup: API, kind: "ClusterRole", name: role },
    subjects: groups.map((name) => ({ apiGroup: API, kind: "Group", name })),
  });

const ROLES = "system:certificates.k8s.io:certificatesigningrequests:";

/** Requests that stay without a certificate and without the condition Failed. */
const UNSIGNED = ["kubelet-other", "foreign"];

const CERTIFICATES: Round[] = [
  {
    steps: [
      allow("system:node-bootstrapper", "system:bootstrappers", "system:nodes", "dev"),
      allow(`${ROLES}nodeclient`, "system:bootstrappers"),
      allow(`${ROLES}selfnodeclient`, "system:nodes"),
      ...Object.entries(REQUESTS).map(([name, one]) => request(name, one)),
      ...Object.entries(REQUESTS).flatMap(([name, { isLeft }]) => (isLeft ? [] : [approve(name)])),
    ],
    collections: [CSRS],
    isDone: (objects) =>
      [...objects].every(([name, { status = {} }]) => {
        const hasFailed = status.conditions?.some(({ type }: { type: string }) => type === "Failed");
        return UNSIGNED.includes(name) || status.certificate !== undefined || hasFailed;
      }),
  },
  {
    steps: [],
    collections: ["/apis/certificates.k8s.io/v1/clustertrustbundles"],
    isDone: (objects) => objects.size === 1,
  },
];

const bootstrapToken = (id: string, more: Record<string, string> = {}): Step => {
  const texts = { "token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true", ...more };
  const data = Object.fromEntries(Object.entries(texts).map(([member, text]) => [member, encode(text)]));
  return post(`${SYSTEM}/secrets`, {
    metadata: { name: `bootstrap-token-${id}` },
    type: "bootstrap.kubernetes.io/token",
    data,
  });
};

const signersOf = (map: { data?: object } | undefined) =>
  Object.keys(map?.data ?? {}).filter((member) => member.startsWith("jws-")).length;

const BOOTSTRAP: Round[] = [
  {
    steps: [
      post(`${PUBLIC}/configmaps`, {
        metadata: { name: "cluster-info" },
        data: { kubeconfig: "some: content\n", "jws-kubeconfig-zzzzzz": "old" },
      }),
      bootstrapToken("aaaaaa"),
      bootstrapToken("bbbbbb", { expiration: "2999-01-01T00:00:00Z" }),
      bootstrapToken("cccccc", { expiration: "2001-01-01T00:00:00Z" }),
      bootstrapToken("dddddd", { expiration: "tomorrow" }),
      bootstrapToken("eeeeee", { "usage-bootstrap-signing": "yes" }),
      bootstrapToken("ffffff", { "token-id": "gggggg" }),
    ],
    collections: [`${PUBLIC}/configmaps`, `${SYSTEM}/secrets`],
    isDone: (objects) => signersOf(objects.get("cluster-info")) === 2 && objects.size === 5,
  },
  {
    steps: [remove(`${SYSTEM}/secrets/bootstrap-token-aaaaaa`)],
    collections: [`${PUBLIC}/configmaps`, `${SYSTEM}/secrets`],
    isDone: (objects) => signersOf(objects.get("cluster-info")) === 1,
  },
];

const SERVICE_CIDRS: Round[] = [
  {
    steps: [
      post(CIDRS, { metadata: { name: "more" }, spec: { cidrs: ["10.200.0.0/28"] } }),
      post(CIDRS, { metadata: { name: "spare" }, spec: { cidrs: ["10.201.0.0/28"] } }),
    ],
    collections: [CIDRS],
    isDone: (objects) => ["more", "spare"].every((name) => objects.get(name)?.status?.conditions?.length === 1),
  },
  {
    steps: [
      post(`${NAMESPACE}/services`, {
        metadata: { name: "web" },
        spec: { clusterIP: "10.200.0.3", ports: [{ port: 80 }] },
      }),
      remove(`${CIDRS}/more`),
      remove(`${CIDRS}/spare`),
    ],
    collections: [CIDRS],
    isDone: (objects) => objects.get("more")?.status?.conditions?.[0]?.status === "False" && !objects.has("spare"),
  },
  {
    steps: [remove(`${NAMESPACE}/services/web`)],
    collections: [CIDRS],
    isDone: (objects) => !objects.has("more"),
  },
];

const MIGRATIONS = "/apis/storagemigration.k8s.io/v1/storageversionmigrations";
const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SHIPS = "/apis/example.com/v1/namespaces/default/ships";

const migrate = (name: string, resource: string, group: string): Step =>
  post(MIGRATIONS, { metadata: { name }, spec: { resource: { resource, group } } });

const shipVersion = (name: string, storage: boolean) => ({
  ...{ name, storage, served: true },
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
});

const shipVersions = (isFirst: boolean) => ({
  versions: [shipVersion("v1", isFirst), shipVersion("v2", !isFirst)],
});

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
const isAccepted = (definition: any) =>
  definition?.status?.conditions?.some(({ type, status }: Record<string, string>) => {
    return type === "Established" && status === "True";
  });

/** The migrations have ended, and the definition shows it. */
// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
const haveEnded = (objects: Map<string, any>) =>
  ["leases", "reviews", "ships"].every((name) => {
    const [running] = objects.get(name)?.status?.conditions ?? [];
    return running?.type === "Running" && running.status === "False";
  });

const STORAGE_VERSIONS: Round[] = [
  {
    steps: [
      post(DEFINITIONS, {
        metadata: { name: "ships.example.com" },
        spec: {
          ...{ group: "example.com", scope: "Namespaced", ...shipVersions(true) },
          names: { plural: "ships", singular: "ship", kind: "Ship", listKind: "ShipList" },
        },
      }),
    ],
    collections: [DEFINITIONS],
    isDone: (objects) => isAccepted(objects.get("ships.example.com")),
  },
  {
    steps: [
      post(SHIPS, { apiVersion: "example.com/v1", kind: "Ship", metadata: { name: "one" } }),
      { method: "PATCH", path: `${DEFINITIONS}/ships.example.com`, body: { spec: shipVersions(false) } },
    ],
    collections: [DEFINITIONS],
    isDone: (objects) => objects.get("ships.example.com")?.status?.storedVersions?.length === 2,
  },
  {
    steps: [
      migrate("leases", "leases", "coordination.k8s.io"),
      migrate("reviews", "subjectaccessreviews", "authorization.k8s.io"),
      migrate("ships", "ships", "example.com"),
    ],
    collections: [MIGRATIONS, DEFINITIONS],
    isDone: (objects) => haveEnded(objects) && objects.get("ships.example.com")?.status?.storedVersions?.length === 1,
  },
];

/** What is compared, by the controllers that it is about. */
export const ROUNDS: Readonly<Record<string, readonly Round[]>> = {
  "tokens in Secrets": TOKENS,
  certificates: CERTIFICATES,
  "bootstrap tokens": BOOTSTRAP,
  ServiceCIDRs: SERVICE_CIDRS,
  "storage versions": STORAGE_VERSIONS,
};
