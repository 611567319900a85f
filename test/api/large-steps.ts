/** One request of a sequence whose response is the same in any thread. */
export interface Step {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A function gets the response body of the previous step. */
  readonly body?: string | ((previous: Buffer) => string | Buffer);
  readonly status: number;
  /** It is small enough for the main thread. */
  readonly staysHere?: true;
}

const NAMESPACE = "/api/v1/namespaces/default";
const MAPS = `${NAMESPACE}/configmaps`;
const LARGE = "x".repeat(100_000);

const map = (name: string, data: Readonly<Record<string, string>> = { large: LARGE }) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
const patch = (type: string) => ({ "content-type": `application/${type}` });
const accept = (type: string) => ({ accept: `application/${type}` });
const PROTOBUF = "vnd.kubernetes.protobuf";
const large = { annotations: { large: LARGE } };
/** Not large, but dense. */
const MANY = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`a${at}`, "b"]));

const creates: readonly Step[] = [
  { title: "create", method: "POST", path: MAPS, body: map("a"), status: 201 },
  { title: "create again", method: "POST", path: MAPS, body: map("a"), status: 409 },
  { title: "create with an invalid key", method: "POST", path: MAPS, body: map("b", { "a b": LARGE }), status: 422 },
  { title: "create as a dry run", method: "POST", path: `${MAPS}?dryRun=All`, body: map("b"), status: 201 },
  {
    title: "create with generateName",
    method: "POST",
    path: MAPS,
    body: JSON.stringify({ metadata: { generateName: "made-" }, data: { large: LARGE } }),
    status: 201,
  },
  {
    title: "create in YAML",
    method: "POST",
    path: MAPS,
    headers: { ...patch("yaml"), ...accept("yaml") },
    body: `metadata:\n  name: yaml\ndata:\n  large: ${LARGE}\n`,
    status: 201,
  },
  {
    title: "create with compression",
    method: "POST",
    path: MAPS,
    headers: { "accept-encoding": "gzip" },
    body: map("gzip", { large: "x".repeat(200_000) }),
    status: 201,
  },
  {
    title: "create in a namespace that is not there",
    method: "POST",
    path: "/api/v1/namespaces/none/configmaps",
    body: map("a"),
    status: 404,
  },
  { title: "create with broken JSON", method: "POST", path: MAPS, body: `{"data":"${LARGE}`, status: 400 },
  { title: "create of another kind", method: "POST", path: `${NAMESPACE}/secrets`, body: map("a"), status: 400 },
  {
    title: "create of what is not served",
    method: "POST",
    path: `${NAMESPACE}/nothings`,
    body: map("a"),
    status: 404,
    staysHere: true,
  },
  {
    title: "create in a form that is not understood",
    method: "POST",
    path: MAPS,
    headers: { "content-type": "text/plain" },
    body: map("a"),
    status: 415,
    staysHere: true,
  },
  {
    title: "create with unknown fields, with warnings",
    method: "POST",
    path: MAPS,
    body: JSON.stringify({ metadata: { name: "warned" }, data: { large: LARGE }, other: 1, "a\nb": 2 }),
    status: 201,
  },
  {
    title: "create with unknown fields that are refused",
    method: "POST",
    path: `${MAPS}?fieldValidation=Strict`,
    body: JSON.stringify({ metadata: { name: "strict" }, data: { large: LARGE }, other: 1 }),
    status: 400,
  },
  {
    title: "create of a deprecated version",
    method: "POST",
    path: `${NAMESPACE}/endpoints`,
    body: JSON.stringify({ metadata: { name: "deprecated", ...large } }),
    status: 201,
  },
  {
    title: "create with many small values",
    method: "POST",
    path: MAPS,
    body: JSON.stringify({ metadata: { name: "dense", finalizers: Array(5000).fill("") } }),
    status: 422,
  },
  {
    title: "create with an address to be allocated",
    method: "POST",
    path: `${NAMESPACE}/services`,
    body: JSON.stringify({ metadata: { name: "a", ...large }, spec: { ports: [{ port: 80 }] } }),
    status: 201,
  },
];

const reviews: readonly Step[] = [
  {
    title: "a review of another user",
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: JSON.stringify({
      spec: {
        user: "a",
        groups: Array.from({ length: 20_000 }, (_, at) => `group-${at}`),
        resourceAttributes: { verb: "get", resource: "pods" },
      },
    }),
    status: 201,
  },
  {
    title: "a question about oneself",
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: JSON.stringify({ metadata: { annotations: MANY } }),
    status: 201,
  },
  {
    title: "a question about oneself that is larger than any question",
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: JSON.stringify({ metadata: large }),
    status: 413,
    staysHere: true,
  },
  {
    title: "a question about a token",
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: JSON.stringify({ spec: { token: LARGE } }),
    status: 201,
  },
];

const reads: readonly Step[] = [
  { title: "read", method: "GET", path: `${MAPS}/a`, status: 200, staysHere: true },
  { title: "read for reading", method: "GET", path: `${MAPS}/a?pretty=true`, status: 200 },
  { title: "read as YAML", method: "GET", path: `${MAPS}/a`, headers: accept("yaml"), status: 200 },
  {
    title: "read as YAML, compressed",
    method: "GET",
    path: `${MAPS}/gzip`,
    headers: { ...accept("yaml"), "accept-encoding": "gzip" },
    status: 200,
  },
  {
    title: "read as a Table",
    method: "GET",
    path: `${MAPS}/a`,
    headers: accept("json;as=Table;v=v1;g=meta.k8s.io"),
    status: 200,
  },
  {
    title: "read the metadata",
    method: "GET",
    path: `${MAPS}/a`,
    headers: accept("json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"),
    status: 200,
  },
  { title: "read what is not there", method: "GET", path: `${MAPS}/none`, status: 404, staysHere: true },
  { title: "read as protobuf", method: "GET", path: `${MAPS}/a`, headers: accept(PROTOBUF), status: 200 },
  {
    title: "replace by protobuf",
    method: "PUT",
    path: `${MAPS}/a`,
    headers: { "content-type": `application/${PROTOBUF}` },
    body: (previous) => previous,
    status: 200,
  },
];

const SCALERS = "/namespaces/default/horizontalpodautoscalers";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const labels = { app: "a" };
const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };

const forms: readonly Step[] = [
  {
    title: "create with a manager of which much is wrong",
    method: "POST",
    path: `${MAPS}?fieldManager=${"%0a".repeat(5_000)}`,
    body: JSON.stringify({ metadata: { name: "managed" } }),
    status: 422,
  },
  {
    title: "create what has another version",
    method: "POST",
    path: `/apis/autoscaling/v1${SCALERS}`,
    body: JSON.stringify({
      metadata: { name: "a", ...large },
      spec: {
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "a" },
      },
    }),
    status: 201,
  },
  { title: "read another version", method: "GET", path: `/apis/autoscaling/v1${SCALERS}/a`, status: 200 },
  {
    title: "read the stored version",
    method: "GET",
    path: `/apis/autoscaling/v2${SCALERS}/a`,
    status: 200,
    staysHere: true,
  },
  {
    title: "create what has a scale",
    method: "POST",
    path: DEPLOYMENTS,
    body: JSON.stringify({ metadata: { name: "a", ...large }, spec: { selector: { matchLabels: labels }, template } }),
    status: 201,
  },
  { title: "read a scale", method: "GET", path: `${DEPLOYMENTS}/a/scale`, status: 200 },
  {
    title: "change a scale",
    method: "PATCH",
    path: `${DEPLOYMENTS}/a/scale`,
    headers: patch("merge-patch+json"),
    body: '{"spec":{"replicas":3}}',
    status: 200,
  },
];

const changes: readonly Step[] = [
  {
    title: "replace at an old version",
    method: "PUT",
    path: `${MAPS}/a`,
    body: JSON.stringify({ metadata: { name: "a", resourceVersion: "1" }, data: { large: LARGE } }),
    status: 409,
  },
  { title: "replace what is not there", method: "PUT", path: `${MAPS}/none`, body: map("none"), status: 404 },
  { title: "replace under another name", method: "PUT", path: `${MAPS}/a`, body: map("b"), status: 400 },
  { title: "replace without a change", method: "PUT", path: `${MAPS}/a`, body: map("a"), status: 200 },
  ...["merge-patch+json", "strategic-merge-patch+json"].map((type) => ({
    title: `a small ${type}`,
    method: "PATCH",
    path: `${MAPS}/a`,
    headers: patch(type),
    body: JSON.stringify({ data: { small: type } }),
    status: 200,
  })),
  {
    title: "a large merge patch of a small object",
    method: "PATCH",
    path: `${MAPS}/kube-root-ca.crt`,
    headers: patch("merge-patch+json"),
    body: JSON.stringify({ data: { large: LARGE } }),
    status: 404,
  },
  {
    title: "a JSON patch",
    method: "PATCH",
    path: `${MAPS}/a`,
    headers: patch("json-patch+json"),
    body: '[{"op":"add","path":"/data/added","value":"1"}]',
    status: 200,
  },
  {
    title: "a JSON patch whose test fails",
    method: "PATCH",
    path: `${MAPS}/a`,
    headers: patch("json-patch+json"),
    body: '[{"op":"test","path":"/data/added","value":"2"}]',
    status: 422,
  },
  {
    title: "apply that creates",
    method: "PATCH",
    path: `${MAPS}/applied?fieldManager=one`,
    headers: patch("apply-patch+yaml"),
    body: map("applied"),
    status: 201,
  },
  {
    title: "apply that conflicts",
    method: "PATCH",
    path: `${MAPS}/applied?fieldManager=two`,
    headers: patch("apply-patch+yaml"),
    body: map("applied", { large: "other" }),
    status: 409,
  },
  {
    title: "apply by force",
    method: "PATCH",
    path: `${MAPS}/applied?fieldManager=two&force=true`,
    headers: patch("apply-patch+yaml"),
    body: map("applied", { large: "y".repeat(100_000) }),
    status: 200,
  },
  {
    title: "apply without a manager",
    method: "PATCH",
    path: `${MAPS}/applied`,
    headers: patch("apply-patch+yaml"),
    body: map("applied"),
    status: 422,
    staysHere: true,
  },
];

const deletions: readonly Step[] = [
  {
    title: "delete under a condition that does not hold",
    method: "DELETE",
    path: `${MAPS}/applied`,
    body: '{"preconditions":{"uid":"another"}}',
    status: 409,
  },
  {
    title: "delete with large options",
    method: "DELETE",
    path: `${MAPS}/warned`,
    body: JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", dryRun: Object.keys(MANY) }),
    status: 422,
  },
  {
    title: "delete with options that are larger than any options",
    method: "DELETE",
    path: `${MAPS}/warned`,
    body: JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", dryRun: [LARGE] }),
    status: 413,
    staysHere: true,
  },
  { title: "delete", method: "DELETE", path: `${MAPS}/applied`, status: 200 },
  { title: "delete what has an address", method: "DELETE", path: `${NAMESPACE}/services/a`, status: 200 },
];

/** Large requests of every verb and encoding, in order. */
export const largeSteps: readonly Step[] = [...creates, ...reviews, ...reads, ...forms, ...changes, ...deletions];
