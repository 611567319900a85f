/** A request with a value that a server easily takes for something else. */
export interface HardValue {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly type?: string;
}

const CORE = "/api/v1/namespaces/fuzz";
const RESOURCE = "/apis/resource.k8s.io/v1";
const PATCHES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

// biome-ignore lint/suspicious/noExplicitAny: TypeScript's library does not know JSON.rawJSON yet
const raw = (text: string): unknown => (JSON as any).rawJSON(text);
const LARGE = ["9007199254740993", "9223372036854775807", "-9223372036854775808"];
/** Members that every object of JavaScript inherits. */
const INHERITED = ["constructor", "toString", "__proto__", "hasOwnProperty"];

const create = (name: string, path: string, body: unknown): HardValue => ({ name, method: "POST", path, body });
const dry = (path: string) => `${path}?dryRun=All`;

const pod = (spec: object, metadata: object = {}) => ({
  metadata: { name: "hard", ...metadata },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});
const container = (rest: object) => pod({ containers: [{ name: "c", image: "i", ...rest }] });
const exec = { exec: { command: ["x"] } };

/** One field of type int64 each, in an object that is good otherwise. */
const INT64_FIELDS: readonly [name: string, path: string, body: (value: unknown) => unknown][] = [
  ["runAsUser", `${CORE}/pods`, (v) => pod({ securityContext: { runAsUser: v } })],
  ["runAsGroup", `${CORE}/pods`, (v) => pod({ securityContext: { runAsGroup: v } })],
  ["fsGroup", `${CORE}/pods`, (v) => pod({ securityContext: { fsGroup: v } })],
  ["container runAsUser", `${CORE}/pods`, (v) => container({ securityContext: { runAsUser: v } })],
  ["supplementalGroups", `${CORE}/pods`, (v) => pod({ securityContext: { supplementalGroups: [v] } })],
  ["activeDeadlineSeconds", `${CORE}/pods`, (v) => pod({ activeDeadlineSeconds: v })],
  ["terminationGracePeriodSeconds", `${CORE}/pods`, (v) => pod({ terminationGracePeriodSeconds: v })],
  [
    "terminationGracePeriodSeconds of a probe",
    `${CORE}/pods`,
    (v) => container({ livenessProbe: { ...exec, terminationGracePeriodSeconds: v } }),
  ],
  ["sleep", `${CORE}/pods`, (v) => container({ lifecycle: { preStop: { sleep: { seconds: v } } } })],
  [
    "tolerationSeconds",
    `${CORE}/pods`,
    (v) => pod({ tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: v }] }),
  ],
  [
    "expirationSeconds",
    `${CORE}/pods`,
    (v) =>
      pod({
        volumes: [
          { name: "v", projected: { sources: [{ serviceAccountToken: { path: "x", expirationSeconds: v } }] } },
        ],
      }),
  ],
  ["metadata.generation", `${CORE}/configmaps`, (v) => ({ metadata: { name: "hard", generation: v } })],
  [
    "deletionGracePeriodSeconds",
    `${CORE}/configmaps`,
    (v) => ({ metadata: { name: "hard", deletionGracePeriodSeconds: v } }),
  ],
  [
    "activeDeadlineSeconds of a Job",
    "/apis/batch/v1/namespaces/fuzz/jobs",
    (v) => ({
      metadata: { name: "hard" },
      spec: {
        activeDeadlineSeconds: v,
        template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
      },
    }),
  ],
  [
    "startingDeadlineSeconds of a CronJob",
    "/apis/batch/v1/namespaces/fuzz/cronjobs",
    (v) => ({
      metadata: { name: "hard" },
      spec: {
        schedule: "* * * * *",
        startingDeadlineSeconds: v,
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
        },
      },
    }),
  ],
  [
    "revision of a ControllerRevision",
    "/apis/apps/v1/namespaces/fuzz/controllerrevisions",
    (v) => ({ metadata: { name: "hard" }, revision: v, data: { a: "b" } }),
  ],
  [
    "pool.generation of a ResourceSlice",
    `${RESOURCE}/resourceslices`,
    (v) => ({
      metadata: { name: "hard" },
      spec: {
        driver: "d.example.com",
        nodeName: "n",
        pool: { name: "p", generation: v, resourceSliceCount: 1 },
        devices: [{ name: "d" }],
      },
    }),
  ],
  [
    "pool.resourceSliceCount of a ResourceSlice",
    `${RESOURCE}/resourceslices`,
    (v) => ({
      metadata: { name: "hard" },
      spec: {
        driver: "d.example.com",
        nodeName: "n",
        pool: { name: "p", generation: 1, resourceSliceCount: v },
        devices: [{ name: "d" }],
      },
    }),
  ],
  [
    "count of a ResourceClaim",
    `${RESOURCE}/namespaces/fuzz/resourceclaims`,
    (v) => ({
      metadata: { name: "hard" },
      spec: {
        devices: {
          requests: [{ name: "r", exactly: { deviceClassName: "c", allocationMode: "ExactCount", count: v } }],
        },
      },
    }),
  ],
  [
    "sessionAffinity timeoutSeconds of a Service",
    `${CORE}/services`,
    (v) => ({
      metadata: { name: "hard" },
      spec: {
        ports: [{ port: 80 }],
        clusterIP: "None",
        sessionAffinity: "ClientIP",
        sessionAffinityConfig: { clientIP: { timeoutSeconds: v } },
      },
    }),
  ],
];

const largeNumbers = INT64_FIELDS.flatMap(([field, path, body]) =>
  LARGE.map((value) => create(`${field}: ${value}`, dry(path), body(raw(value)))),
);

/** What stands in a patch of a Secret instead of its own kind and version. */
const OTHER_KINDS = [
  { apiVersion: "a/b/c" },
  { apiVersion: "a/b" },
  { apiVersion: "v2" },
  { apiVersion: "/" },
  { apiVersion: "" },
  { apiVersion: null },
  { apiVersion: 1 },
  { apiVersion: {} },
  { kind: "ConfigMap" },
  { kind: "" },
  { kind: 7 },
  { kind: "constructor" },
  { kind: "x".repeat(200), apiVersion: "a/b/c" },
];

const otherKinds = OTHER_KINDS.flatMap((change): HardValue[] => {
  const text = JSON.stringify(change);
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "target" } };
  const jsonPatch = Object.entries(change).map(([member, value]) => ({ op: "replace", path: `/${member}`, value }));
  const bodies = { merge: change, strategic: change, json: jsonPatch, apply: { ...object, ...change } };
  const patches = Object.entries(bodies).map(([type, body]) => ({
    name: `${type} patch with ${text}`,
    method: "PATCH",
    path: `${CORE}/secrets/target${type === "apply" ? "?fieldManager=f" : ""}`,
    body,
    type: PATCHES[type as keyof typeof PATCHES],
  }));
  const update = { name: `update with ${text}`, method: "PUT", path: `${CORE}/secrets/target` };
  return [
    ...patches,
    { ...update, body: { ...object, ...change } },
    create(`create with ${text}`, dry(`${CORE}/secrets`), { metadata: { name: "s" }, ...change }),
  ];
});

const named = (value: string): HardValue[] => {
  const own = Object.fromEntries([[value, "1"]]);
  return [
    create(`Secret of type ${value}`, dry(`${CORE}/secrets`), { metadata: { name: "hard" }, type: value }),
    ...["requests", "limits"].map((member) =>
      create(`container ${member} of ${value}`, dry(`${CORE}/pods`), container({ resources: { [member]: own } })),
    ),
    create(`overhead of ${value}`, dry(`${CORE}/pods`), pod({ overhead: own })),
    create(`node selector of ${value}`, dry(`${CORE}/pods`), pod({ nodeSelector: own })),
    create(`annotation ${value}`, dry(`${CORE}/pods`), pod({}, { annotations: own, labels: own })),
    create(`quota of ${value}`, dry(`${CORE}/resourcequotas`), { metadata: { name: "q" }, spec: { hard: own } }),
    create(`quota scope ${value}`, dry(`${CORE}/resourcequotas`), {
      metadata: { name: "q" },
      spec: { hard: { pods: "1" }, scopes: [value] },
    }),
    create(`limit range of ${value}`, dry(`${CORE}/limitranges`), {
      metadata: { name: "l" },
      spec: { limits: [{ type: "Container", max: own, default: own, defaultRequest: own }] },
    }),
    ...["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"].map((side) =>
      create(`limit range ${side} of ${value}`, dry(`${CORE}/limitranges`), {
        metadata: { name: "l" },
        spec: { limits: [{ type: "Container", [side]: own }] },
      }),
    ),
    create(`limit range type ${value}`, dry(`${CORE}/limitranges`), {
      metadata: { name: "l" },
      spec: { limits: [{ type: value, max: { cpu: "1" } }] },
    }),
    create(`node capacity of ${value}`, dry("/api/v1/nodes"), {
      metadata: { name: "hard" },
      status: { capacity: own, allocatable: own },
    }),
    create(`claim of ${value}`, dry(`${CORE}/persistentvolumeclaims`), {
      metadata: { name: "hard" },
      spec: { accessModes: [value], resources: { requests: { storage: "1", ...own } } },
    }),
    create(`service of ${value}`, dry(`${CORE}/services`), {
      metadata: { name: "hard" },
      spec: { type: value, ports: [{ port: 80, protocol: value }], ipFamilyPolicy: value, ipFamilies: [value] },
    }),
    create(`policies of ${value}`, dry(`${CORE}/pods`), {
      metadata: { name: "hard" },
      spec: {
        restartPolicy: value,
        dnsPolicy: value,
        priorityClassName: value,
        containers: [{ name: "c", image: "i", imagePullPolicy: value, ports: [{ containerPort: 1, protocol: value }] }],
      },
    }),
    create(`ConfigMap ${value}`, dry(`${CORE}/configmaps`), { metadata: { name: value }, data: own }),
    create(`event of ${value}`, dry(`${CORE}/events`), {
      metadata: { name: "e" },
      involvedObject: { kind: value, namespace: "fuzz", name: "x", apiVersion: value, fieldPath: value },
    }),
    create(`CSR of ${value}`, dry("/apis/certificates.k8s.io/v1/certificatesigningrequests"), {
      metadata: { name: "hard" },
      spec: { request: "", signerName: value, usages: [value] },
    }),
    create(`role of ${value}`, dry("/apis/rbac.authorization.k8s.io/v1/namespaces/fuzz/rolebindings"), {
      metadata: { name: "hard" },
      roleRef: { apiGroup: value, kind: value, name: value },
      subjects: [{ kind: value, name: value }],
    }),
    create(`webhook of ${value}`, dry("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"), {
      metadata: { name: "hard" },
      webhooks: [{ name: value, sideEffects: value, failurePolicy: value, admissionReviewVersions: [value] }],
    }),
    create(`scaler of ${value}`, dry("/apis/autoscaling/v2/namespaces/fuzz/horizontalpodautoscalers"), {
      metadata: { name: "hard" },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { kind: value, name: value },
        metrics: [{ type: value }],
        behavior: { scaleUp: { selectPolicy: value, policies: [{ type: value, value: 1, periodSeconds: 1 }] } },
      },
    }),
    create(`strategy ${value}`, dry("/apis/apps/v1/namespaces/fuzz/deployments"), {
      metadata: { name: "hard" },
      spec: {
        strategy: { type: value },
        selector: { matchLabels: own, matchExpressions: [{ key: value, operator: value }] },
        template: { metadata: { labels: own }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    }),
    create(`priority level of ${value}`, dry("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"), {
      metadata: { name: value },
      spec: { type: value },
    }),
    { name: `GET a Secret named ${value}`, method: "GET", path: `${CORE}/secrets/${value}`, body: undefined },
    { name: `GET a resource named ${value}`, method: "GET", path: `${CORE}/${value}`, body: undefined },
    { name: `GET a group named ${value}`, method: "GET", path: `/apis/${value}/v1/${value}`, body: undefined },
    { name: `GET by field ${value}`, method: "GET", path: `${CORE}/pods?fieldSelector=${value}%3D1`, body: undefined },
    ...["%3D1", "", "%20in%20(a)"].map((rest) => ({
      name: `GET by label ${value}${decodeURIComponent(rest)}`,
      method: "GET",
      path: `${CORE}/secrets?labelSelector=${value}${rest}`,
      body: undefined,
    })),
    { name: `GET subresource ${value}`, method: "GET", path: `${CORE}/secrets/target/${value}`, body: undefined },
    {
      name: `patch of type ${value}`,
      method: "PATCH",
      path: `${CORE}/secrets/target`,
      body: {},
      type: value,
    },
    ...Object.values(PATCHES).map((type) => ({
      name: `${type} of the member ${value}`,
      method: "PATCH",
      path: `${CORE}/secrets/target?dryRun=All${type === PATCHES.apply ? "&fieldManager=f" : ""}`,
      body:
        type === PATCHES.json
          ? [
              { op: "add", path: `/${value}`, value: own },
              { op: "test", path: `/metadata/${value}`, value: null },
            ]
          : {
              apiVersion: "v1",
              kind: "Secret",
              metadata: { name: "target", ...Object.fromEntries([[value, own]]) },
            },
      type,
    })),
  ];
};

const SETUP: readonly HardValue[] = [
  create("the Secret", `${CORE}/secrets`, { metadata: { name: "target" }, data: { password: "c2VzYW1l" } }),
];

const apply = (name: string, path: string, body: unknown): HardValue => ({
  name,
  method: "PATCH",
  path: `${path}?fieldManager=f&dryRun=All`,
  body,
  type: PATCHES.apply,
});

const applied = [5, raw("9007199254740993"), true, null, [], {}, ""].flatMap((value) => [
  apply(`apply of metadata.name ${JSON.stringify(value)}`, `${CORE}/configmaps/5`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: value },
  }),
  apply(`apply of metadata.namespace ${JSON.stringify(value)}`, `${CORE}/configmaps/5`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "5", namespace: value },
  }),
  apply(`apply of metadata.generation ${JSON.stringify(value)}`, `${CORE}/configmaps/5`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "5", generation: value },
  }),
  apply(`apply of metadata ${JSON.stringify(value)}`, `${CORE}/configmaps/5`, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: value,
  }),
]);

const empties: readonly HardValue[] = [
  create("Pod without spec", dry(`${CORE}/pods`), { metadata: { name: "hard" } }),
  create("Pod with an empty projected volume", dry(`${CORE}/pods`), pod({ volumes: [{ name: "v", projected: {} }] })),
  create("a LimitRange with defaults", `${CORE}/limitranges`, {
    metadata: { name: "defaults" },
    spec: { limits: [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "1" } }] },
  }),
  ...[undefined, {}, { containers: null }, { containers: [] }, { initContainers: [{}] }].map((spec) =>
    create(`Pod with the spec ${JSON.stringify(spec)} where a LimitRange has defaults`, dry(`${CORE}/pods`), {
      metadata: { name: "hard" },
      spec,
    }),
  ),
];

/** All of them, in the order in which they are to be sent to a server with the namespace `fuzz`. */
export const HARD_VALUES: readonly HardValue[] = [
  ...SETUP,
  ...otherKinds,
  ...largeNumbers,
  ...INHERITED.flatMap(named),
  ...applied,
  ...empties,
];
