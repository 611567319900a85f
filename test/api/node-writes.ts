import type { JsonObject } from "../../src/base/api/object.ts";
import { makeCertificate, makeKeys, makeRequest, printPem } from "../../src/base/pki/certificates.suite.ts";

/** The uids of objects by name. */
export type Uids = Readonly<Record<string, string>>;

/** A write as a node. */
export interface NodeWrite {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown | ((uids: Uids) => unknown);
  readonly type?: string;
  /** Default: system:node:n1. */
  readonly user?: string;
  readonly groups?: readonly string[];
  /** Whether it is a dry run. */
  readonly isDry?: boolean;
}

const CORE = "/api/v1";
const OWN = `${CORE}/namespaces/nr`;
const PODS = `${OWN}/pods`;
const NODES = `${CORE}/nodes`;
const CLAIMS = `${OWN}/persistentvolumeclaims`;
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const CSI_NODES = "/apis/storage.k8s.io/v1/csinodes";
const SLICES = "/apis/resource.k8s.io/v1/resourceslices";
const SIGNING = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const POD_CERTIFICATES = "/apis/certificates.k8s.io/v1/namespaces/nr/podcertificaterequests";
const STRATEGIC = "application/strategic-merge-patch+json";

const container = { name: "c", image: "i" };
const pod = (name: string, nodeName: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name, namespace: "nr" },
  spec: { nodeName, containers: [container], automountServiceAccountToken: false, ...spec },
});
const claimSpec = (volumeName?: string) => ({
  accessModes: ["ReadWriteOnce"],
  resources: { requests: { storage: "1Gi" } },
  storageClassName: "",
  ...(volumeName && { volumeName }),
});
const volume = (name: string, source: JsonObject, claim: string): JsonObject => ({
  metadata: { name },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    claimRef: { namespace: "nr", name: claim },
    ...source,
  },
});
const projected = (...sources: JsonObject[]) => [{ name: "p", projected: { sources } }];
const slice = (nodeName?: string): JsonObject => ({
  driver: "d.example",
  pool: { name: "p", generation: 1, resourceSliceCount: 1 },
  ...(nodeName === undefined ? { allNodes: true } : { nodeName }),
  devices: [{ name: "x" }],
});

/** Objects to create first, in this order. */
export const OBJECTS: readonly { path: string; object: JsonObject; status?: JsonObject }[] = [
  { path: `${CORE}/namespaces`, object: { metadata: { name: "nr" } } },
  { path: `${OWN}/serviceaccounts`, object: { metadata: { name: "default" } } },
  { path: `${OWN}/serviceaccounts`, object: { metadata: { name: "account" } } },
  {
    path: NODES,
    object: {
      metadata: { name: "n1", labels: { "kubernetes.io/hostname": "n1", "example.com/a": "b" } },
      spec: { taints: [{ key: "t", effect: "NoSchedule" }] },
    },
  },
  { path: NODES, object: { metadata: { name: "n2" } } },
  {
    path: "/apis/storage.k8s.io/v1/csidrivers",
    object: { metadata: { name: "driver.example" }, spec: { tokenRequests: [{ audience: "csi-audience" }] } },
  },
  {
    path: "/apis/storage.k8s.io/v1/csidrivers",
    object: { metadata: { name: "ebs.csi.aws.com" }, spec: { tokenRequests: [{ audience: "ebs-audience" }] } },
  },
  {
    path: `${CORE}/persistentvolumes`,
    object: volume("v1", { csi: { driver: "driver.example", volumeHandle: "h" } }, "bound"),
  },
  {
    path: `${CORE}/persistentvolumes`,
    object: volume("v2", { awsElasticBlockStore: { volumeID: "x" } }, "pod-migrated-scratch"),
  },
  { path: CLAIMS, object: { metadata: { name: "bound" }, spec: claimSpec("v1") }, status: { phase: "Bound" } },
  { path: CLAIMS, object: { metadata: { name: "unbound" }, spec: claimSpec() } },
  { path: CLAIMS, object: { metadata: { name: "pod-migrated-scratch" }, spec: claimSpec("v2") } },
  { path: PODS, object: pod("own", "n1", { serviceAccountName: "account" }) },
  { path: PODS, object: pod("foreign", "n2", { serviceAccountName: "account" }) },
  { path: PODS, object: pod("unbound-pod", "") },
  {
    path: PODS,
    object: pod("pod-tokens", "n1", {
      serviceAccountName: "account",
      volumes: [
        ...projected({ serviceAccountToken: { path: "t", audience: "projected-audience" } }),
        { name: "c", csi: { driver: "driver.example" } },
        {
          name: "pc",
          projected: {
            sources: [
              { podCertificate: { signerName: "example.com/s", keyType: "ED25519", credentialBundlePath: "x" } },
            ],
          },
        },
      ],
    }),
  },
  {
    path: PODS,
    object: pod("pod-claim", "n1", {
      serviceAccountName: "account",
      volumes: [{ name: "v", persistentVolumeClaim: { claimName: "bound" } }],
    }),
  },
  {
    path: PODS,
    object: pod("pod-migrated", "n1", {
      serviceAccountName: "account",
      volumes: [{ name: "scratch", ephemeral: { volumeClaimTemplate: { spec: claimSpec() } } }],
    }),
  },
  {
    path: PODS,
    object: pod("pod-broken", "n1", {
      serviceAccountName: "account",
      volumes: [
        { name: "a", persistentVolumeClaim: { claimName: "missing" } },
        { name: "b", persistentVolumeClaim: { claimName: "unbound" } },
        { name: "c", csi: { driver: "none.example" } },
      ],
    }),
  },
  {
    path: PODS,
    object: {
      metadata: { name: "mirror", annotations: { "kubernetes.io/config.mirror": "x" } },
      spec: { nodeName: "n1", containers: [container], hostNetwork: true },
    },
  },
  { path: SLICES, object: { metadata: { name: "own-slice" }, spec: slice("n1") } },
  { path: SLICES, object: { metadata: { name: "foreign-slice" }, spec: slice("n2") } },
  { path: LEASES, object: { metadata: { name: "n1" }, spec: { holderIdentity: "n1" } } },
  { path: LEASES, object: { metadata: { name: "n2" }, spec: { holderIdentity: "n2" } } },
  { path: CSI_NODES, object: { metadata: { name: "n1" }, spec: { drivers: [] } } },
  { path: CSI_NODES, object: { metadata: { name: "n2" }, spec: { drivers: [] } } },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    object: {
      metadata: { name: "more-for-nodes" },
      rules: [
        {
          apiGroups: [""],
          resources: ["pods", "pods/*", "pods/ephemeralcontainers", "pods/binding", "pods/resize"],
          verbs: ["*"],
        },
        {
          apiGroups: [""],
          resources: [
            "persistentvolumeclaims",
            "persistentvolumeclaims/status",
            "nodes",
            "serviceaccounts",
            "serviceaccounts/token",
          ],
          verbs: ["*"],
        },
        {
          apiGroups: ["coordination.k8s.io", "storage.k8s.io", "resource.k8s.io", "certificates.k8s.io"],
          resources: ["*"],
          verbs: ["*"],
        },
        {
          apiGroups: [""],
          resources: ["granted-audience"],
          verbs: ["request-serviceaccounts-token-audience"],
          resourceNames: ["account"],
        },
        {
          apiGroups: ["certificates.k8s.io"],
          resources: ["example.com:granted"],
          verbs: ["request-serviceaccounts-podcertificate-signer"],
        },
        { apiGroups: [""], resources: ["configmaps"], verbs: ["create"] },
      ],
    },
  },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    object: {
      metadata: { name: "more-for-nodes" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "more-for-nodes" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:nodes" }],
    },
  },
  { path: PODS, object: pod("last", "n1") },
];

/** A mirror pod as created by a kubelet, with changes. */
const mirror =
  (change: { metadata?: JsonObject; spec?: JsonObject; owner?: JsonObject | null } = {}) =>
  (uids: Uids): JsonObject => ({
    metadata: {
      name: "m",
      annotations: { "kubernetes.io/config.mirror": "x" },
      ...(change.owner === null
        ? {}
        : {
            ownerReferences: [
              { apiVersion: "v1", kind: "Node", name: "n1", uid: uids.n1 ?? "", controller: true, ...change.owner },
            ],
          }),
      ...change.metadata,
    },
    spec: { nodeName: "n1", containers: [container], ...change.spec },
  });

const creations: readonly (readonly [title: string, body: (uids: Uids) => JsonObject])[] = [
  ["a mirror pod", mirror()],
  ["a pod that is no mirror", mirror({ metadata: { annotations: {} } })],
  ["a mirror pod of another node", mirror({ spec: { nodeName: "n2" } })],
  ["a mirror pod without a node", mirror({ spec: { nodeName: "" } })],
  ["a mirror pod without an owner", mirror({ owner: null })],
  [
    "a mirror pod with two owners",
    (uids) =>
      mirror({
        metadata: {
          ownerReferences: [
            { apiVersion: "v1", kind: "Node", name: "n1", uid: uids.n1 ?? "", controller: true },
            { apiVersion: "v1", kind: "Node", name: "n2", uid: uids.n2 ?? "" },
          ],
        },
      })(uids),
  ],
  ["a mirror pod of another owner", mirror({ owner: { name: "n2" } })],
  ["a mirror pod of an owner of another kind", mirror({ owner: { kind: "Pod" } })],
  ["a mirror pod of an owner of another version", mirror({ owner: { apiVersion: "v2" } })],
  ["a mirror pod whose owner is no controller", mirror({ owner: { controller: false } })],
  ["a mirror pod that blocks the deletion of its owner", mirror({ owner: { blockOwnerDeletion: true } })],
  ["a mirror pod that does not block it", mirror({ owner: { blockOwnerDeletion: false } })],
  ["a mirror pod with another uid", mirror({ owner: { uid: "8f9bd4ab-0000-4000-8000-000000000000" } })],
  ["a mirror pod with a service account", mirror({ spec: { serviceAccountName: "default" } })],
  ["a mirror pod with a secret", mirror({ spec: { imagePullSecrets: [{ name: "s" }] } })],
  [
    "a mirror pod with a ConfigMap",
    mirror({ spec: { containers: [{ ...container, envFrom: [{ configMapRef: { name: "x" } }] }] } }),
  ],
  [
    "a mirror pod with a ConfigMap's key",
    mirror({
      spec: {
        containers: [{ ...container, env: [{ name: "E", valueFrom: { configMapKeyRef: { name: "x", key: "k" } } }] }],
      },
    }),
  ],
  ["a mirror pod with a ResourceClaim", mirror({ spec: { resourceClaims: [{ name: "r", resourceClaimName: "x" }] } })],
  ["a mirror pod with a token", mirror({ spec: { volumes: projected({ serviceAccountToken: { path: "x" } }) } })],
  ...(
    [
      { configMap: {} },
      { secret: {} },
      { configMap: { name: "x" } },
      { csi: { driver: "d" } },
      { glusterfs: { endpoints: "e", path: "p" } },
      { persistentVolumeClaim: { claimName: "c" } },
      { ephemeral: { volumeClaimTemplate: { spec: claimSpec() } } },
      { azureFile: { shareName: "s" } },
      { emptyDir: {} },
      { hostPath: { path: "/x" } },
      { nfs: { server: "s", path: "/p" } },
      { image: { reference: "r" } },
      {},
    ] as JsonObject[]
  ).map(
    (source) =>
      [
        `a mirror pod with the volume ${JSON.stringify(source)}`,
        mirror({ spec: { volumes: [{ name: "v", ...source }] } }),
      ] as const,
  ),
  ...(
    [
      { configMap: { name: "x" } },
      { secret: { name: "x" } },
      { configMap: {} },
      { clusterTrustBundle: { name: "x", path: "p" } },
      { podCertificate: { signerName: "example.com/s", keyType: "ED25519", credentialBundlePath: "p" } },
      { downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.name" } }] } },
      {},
    ] as JsonObject[]
  ).map(
    (source) =>
      [
        `a mirror pod with the projected volume ${JSON.stringify(source)}`,
        mirror({ spec: { volumes: projected(source) } }),
      ] as const,
  ),
];

const podWrites: readonly NodeWrite[] = [
  ...creations.map(([title, body]) => ({ title: `create ${title}`, method: "POST", path: PODS, body })),
  {
    title: "create a mirror pod as a node that is not there",
    method: "POST",
    path: PODS,
    user: "system:node:n3",
    body: mirror({ owner: { name: "n3" }, spec: { nodeName: "n3" } }),
  },
  { title: "create a pod as a node without a name", method: "POST", path: PODS, user: "system:node:", body: mirror() },
  {
    title: "create a pod as what only has the name of a node",
    method: "POST",
    path: PODS,
    groups: ["system:masters"],
    body: mirror({ metadata: { annotations: {} } }),
  },
  ...["own", "foreign", "unbound-pod", "none"].flatMap((name): NodeWrite[] => [
    { title: `delete the pod ${name}`, method: "DELETE", path: `${PODS}/${name}` },
    {
      title: `evict the pod ${name}`,
      method: "POST",
      path: `${PODS}/${name}/eviction`,
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } },
    },
    {
      title: `evict the pod ${name} by another name`,
      method: "POST",
      path: `${PODS}/${name}/eviction`,
      body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "own" } },
    },
    {
      title: `the status of the pod ${name}`,
      method: "PATCH",
      path: `${PODS}/${name}/status`,
      body: { status: { reason: "x" } },
    },
    {
      title: `change the pod ${name}`,
      method: "PATCH",
      path: `${PODS}/${name}`,
      body: { metadata: { labels: { a: "b" } } },
    },
    {
      title: `bind the pod ${name}`,
      method: "POST",
      path: `${PODS}/${name}/binding`,
      body: { target: { name: "n1" } },
    },
    { title: `resize the pod ${name}`, method: "PATCH", path: `${PODS}/${name}/resize`, body: { spec: {} } },
  ]),
  {
    title: "labels by the status of a pod",
    method: "PATCH",
    path: `${PODS}/own/status`,
    body: { metadata: { labels: { a: "b" } } },
  },
  {
    title: "annotations by the status of a pod",
    method: "PATCH",
    path: `${PODS}/own/status`,
    body: { metadata: { annotations: { a: "b" } } },
  },
  {
    title: "claims in the status of a pod",
    method: "PATCH",
    path: `${PODS}/own/status`,
    body: { status: { resourceClaimStatuses: [{ name: "r" }] } },
  },
  {
    title: "an extended claim in the status of a pod",
    method: "PATCH",
    path: `${PODS}/own/status`,
    body: { status: { extendedResourceClaimStatus: { resourceClaimName: "x", requestMappings: [] } } },
  },
  { title: "delete all pods", method: "DELETE", path: PODS },
  {
    title: "a ConfigMap, of which there is no rule",
    method: "POST",
    path: `${OWN}/configmaps`,
    body: { metadata: { name: "c" } },
  },
];

const LABELS = [
  "example.com/a",
  "plain",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "kubernetes.io/x",
  "x.kubernetes.io/x",
  "k8s.io/x",
  "a.b.k8s.io/x",
  "notk8s.io/x",
  "node-restriction.kubernetes.io/x",
  "sub.node-restriction.kubernetes.io/x",
  "kubelet.kubernetes.io/x",
  "sub.kubelet.kubernetes.io/x",
  "node.kubernetes.io/x",
  "sub.node.kubernetes.io/x",
  "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/region",
  "beta.kubernetes.io/instance-type",
  "node-role.kubernetes.io/control-plane",
];

const nodeWrites: readonly NodeWrite[] = [
  ...LABELS.flatMap((label): NodeWrite[] => [
    {
      title: `create a node with the label ${label}`,
      method: "POST",
      path: NODES,
      user: "system:node:n4",
      body: { metadata: { name: "n4", labels: { [label]: "x" } } },
    },
    {
      title: `set the label ${label} of a node`,
      method: "PATCH",
      path: `${NODES}/n1`,
      body: { metadata: { labels: { [label]: "x" } } },
    },
    {
      title: `set the label ${label} of a node by its status`,
      method: "PATCH",
      path: `${NODES}/n1/status`,
      type: STRATEGIC,
      body: { metadata: { labels: { [label]: "x" } } },
    },
  ]),
  {
    title: "several labels",
    method: "PATCH",
    path: `${NODES}/n1`,
    body: { metadata: { labels: { "k8s.io/z": "x", "k8s.io/a": "x", "k8s.io/B": "x", plain: "x" } } },
  },
  {
    title: "remove a label that kubelets may set",
    method: "PATCH",
    path: `${NODES}/n1`,
    body: { metadata: { labels: { "kubernetes.io/hostname": null } } },
  },
  { title: "create another node", method: "POST", path: NODES, body: { metadata: { name: "n4" } } },
  { title: "create a node whose name is made", method: "POST", path: NODES, body: { metadata: { generateName: "n" } } },
  {
    title: "create a node with a configSource",
    method: "POST",
    path: NODES,
    user: "system:node:n4",
    body: {
      metadata: { name: "n4" },
      spec: { configSource: { configMap: { name: "x", namespace: "y", kubeletConfigKey: "k" } } },
    },
  },
  {
    title: "create a node with taints",
    method: "POST",
    path: NODES,
    user: "system:node:n4",
    body: { metadata: { name: "n4" }, spec: { taints: [{ key: "x", effect: "NoSchedule" }] } },
  },
  {
    title: "set a configSource",
    method: "PATCH",
    path: `${NODES}/n1`,
    body: { spec: { configSource: { configMap: { name: "x", namespace: "y", kubeletConfigKey: "k" } } } },
  },
  {
    title: "another taint",
    method: "PATCH",
    path: `${NODES}/n1`,
    body: { spec: { taints: [{ key: "x", effect: "NoSchedule" }] } },
  },
  { title: "no taints", method: "PATCH", path: `${NODES}/n1`, body: { spec: { taints: null } } },
  {
    title: "the same taint",
    method: "PATCH",
    path: `${NODES}/n1`,
    body: { spec: { taints: [{ key: "t", effect: "NoSchedule" }] } },
  },
  { title: "taints by the status", method: "PATCH", path: `${NODES}/n1/status`, body: { spec: { taints: [] } } },
  {
    title: "an owner",
    method: "PATCH",
    path: `${NODES}/n1`,
    body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "u" }] } },
  },
  { title: "another node", method: "PATCH", path: `${NODES}/n2`, body: { metadata: { labels: { plain: "x" } } } },
  {
    title: "the status of another node",
    method: "PATCH",
    path: `${NODES}/n2/status`,
    body: { status: { phase: "Running" } },
  },
  { title: "the own status", method: "PATCH", path: `${NODES}/n1/status`, body: { status: { phase: "Running" } } },
  { title: "delete the own node", method: "DELETE", path: `${NODES}/n1` },
  { title: "delete another node", method: "DELETE", path: `${NODES}/n2` },
];

const claimWrites: readonly NodeWrite[] = [
  { title: "create a claim", method: "POST", path: CLAIMS, body: { metadata: { name: "x" }, spec: claimSpec() } },
  { title: "change a claim", method: "PATCH", path: `${CLAIMS}/bound`, body: { metadata: { labels: { a: "b" } } } },
  { title: "delete a claim", method: "DELETE", path: `${CLAIMS}/bound` },
  {
    title: "capacity of a claim",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: { status: { capacity: { storage: "1Gi" } } },
  },
  {
    title: "conditions of a claim",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: { status: { conditions: [{ type: "Resizing", status: "True" }] } },
  },
  {
    title: "allocated resources of a claim",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: {
      status: { allocatedResources: { storage: "1Gi" }, allocatedResourceStatuses: { storage: "NodeResizePending" } },
    },
  },
  {
    title: "the phase of a claim",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: { status: { phase: "Lost" } },
  },
  {
    title: "labels of a claim",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: { metadata: { labels: { a: "b" } } },
  },
  {
    title: "the spec of a claim by its status",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: { spec: { volumeName: "v9" } },
  },
  {
    title: "finalizers of a claim",
    method: "PATCH",
    path: `${CLAIMS}/bound/status`,
    body: { metadata: { finalizers: ["example.com/x"] } },
  },
];

/** A TokenRequest bound to a pod. */
const token =
  (name: string, spec: JsonObject = {}, bound: JsonObject = {}) =>
  (uids: Uids): JsonObject => ({
    spec: { boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid: uids[name] ?? "", ...bound }, ...spec },
  });
const TOKENS = `${OWN}/serviceaccounts/account/token`;

const tokenWrites: readonly NodeWrite[] = [
  ...(
    [
      ["without a bound object", () => ({ spec: {} })],
      ["bound to a Secret", token("own", {}, { kind: "Secret" })],
      ["bound to another version", token("own", {}, { apiVersion: "v2" })],
      ["bound to nothing by name", token("own", {}, { name: "" })],
      ["without a uid", token("own", {}, { uid: "" })],
      ["for a pod that is not there", token("none", {}, { uid: "x" })],
      ["for another uid", token("own", {}, { uid: "x" })],
      ["for a pod of another node", token("foreign")],
      ["for a pod without that audience", token("own", { audiences: ["a"] })],
      ["for a pod without the default audience", token("own")],
      ["for two audiences", token("own", { audiences: ["a", "b"] })],
      ["for no audiences", token("own", { audiences: [] })],
      ["for the audience of a projected volume", token("pod-tokens", { audiences: ["projected-audience"] })],
      ["for the audience of a CSI driver", token("pod-tokens", { audiences: ["csi-audience"] })],
      ["for the audience of a claim's driver", token("pod-claim", { audiences: ["csi-audience"] })],
      ["for another audience than the claim's driver's", token("pod-claim", { audiences: ["x"] })],
      [
        "for the audience of a driver in the place of an old volume",
        token("pod-migrated", { audiences: ["ebs-audience"] }),
      ],
      ["for a pod whose claims and drivers are not there", token("pod-broken", { audiences: ["x"] })],
      ["for an audience that a role grants", token("own", { audiences: ["granted-audience"] })],
      ["for a pod of another account", token("last", { audiences: ["granted-audience"] })],
      ["for a mirror pod", token("mirror", { audiences: ["granted-audience"] })],
    ] as const
  ).map(([title, body]) => ({ title: `a token ${title}`, method: "POST", path: TOKENS, body })),
  {
    title: "an audience that a role grants for another account",
    method: "POST",
    path: `${OWN}/serviceaccounts/default/token`,
    body: token("last", { audiences: ["granted-audience"] }),
  },
  { title: "a service account", method: "POST", path: `${OWN}/serviceaccounts`, body: { metadata: { name: "x" } } },
];

const leaseWrites: readonly NodeWrite[] = [
  {
    title: "create a lease of another name",
    method: "POST",
    path: LEASES,
    body: { metadata: { name: "n3" }, spec: {} },
  },
  { title: "create a lease without a name", method: "POST", path: LEASES, body: { metadata: {}, spec: {} } },
  {
    title: "create the own lease",
    method: "POST",
    path: LEASES,
    user: "system:node:n3",
    body: { metadata: { name: "n3" }, spec: {} },
  },
  {
    title: "a lease elsewhere",
    method: "POST",
    path: "/apis/coordination.k8s.io/v1/namespaces/nr/leases",
    body: { metadata: { name: "n1" }, spec: {} },
  },
  { title: "renew the own lease", method: "PATCH", path: `${LEASES}/n1`, body: { spec: { leaseDurationSeconds: 4 } } },
  { title: "renew another lease", method: "PATCH", path: `${LEASES}/n2`, body: { spec: { leaseDurationSeconds: 4 } } },
  { title: "delete another lease", method: "DELETE", path: `${LEASES}/n2` },
  { title: "delete the own lease", method: "DELETE", path: `${LEASES}/n1` },
  {
    title: "a CSINode of another name",
    method: "POST",
    path: CSI_NODES,
    body: { metadata: { name: "n3" }, spec: { drivers: [] } },
  },
  {
    title: "the own CSINode",
    method: "POST",
    path: CSI_NODES,
    user: "system:node:n3",
    body: { metadata: { name: "n3" }, spec: { drivers: [] } },
  },
  {
    title: "change another CSINode",
    method: "PATCH",
    path: `${CSI_NODES}/n2`,
    body: { metadata: { labels: { a: "b" } } },
  },
  {
    title: "change the own CSINode",
    method: "PATCH",
    path: `${CSI_NODES}/n1`,
    body: { metadata: { labels: { a: "b" } } },
  },
  { title: "delete another CSINode", method: "DELETE", path: `${CSI_NODES}/n2` },
  { title: "an own ResourceSlice", method: "POST", path: SLICES, body: { metadata: { name: "s" }, spec: slice("n1") } },
  {
    title: "another node's ResourceSlice",
    method: "POST",
    path: SLICES,
    body: { metadata: { name: "s" }, spec: slice("n2") },
  },
  {
    title: "a ResourceSlice of all nodes",
    method: "POST",
    path: SLICES,
    body: { metadata: { name: "s" }, spec: slice() },
  },
  {
    title: "another node's ResourceSlice in v1beta1",
    method: "POST",
    path: "/apis/resource.k8s.io/v1beta1/resourceslices",
    body: { metadata: { name: "s" }, spec: { ...slice("n2"), devices: [{ name: "x", basic: {} }] } },
  },
  {
    title: "change another ResourceSlice",
    method: "PATCH",
    path: `${SLICES}/foreign-slice`,
    body: { metadata: { labels: { a: "b" } } },
  },
  { title: "delete another ResourceSlice", method: "DELETE", path: `${SLICES}/foreign-slice` },
  { title: "delete an own ResourceSlice", method: "DELETE", path: `${SLICES}/own-slice` },
  { title: "delete all ResourceSlices", method: "DELETE", path: SLICES },
];

const podCertificate =
  (change: JsonObject = {}, name = "pod-tokens") =>
  (uids: Uids): JsonObject => ({
    metadata: { name: "r" },
    spec: {
      signerName: "example.com/s",
      podName: name,
      podUID: uids[name] ?? "x",
      serviceAccountName: "account",
      serviceAccountUID: uids.account ?? "",
      nodeName: "n1",
      nodeUID: uids.n1 ?? "",
      stubPKCS10Request: "AAAA",
      ...change,
    },
  });

const keys = makeKeys();
const REQUESTS: Readonly<Record<string, string>> = {
  nothing: "",
  "no PEM": "x",
  "a certificate": makeCertificate({ keys }).pem,
  "its own name": printPem("CERTIFICATE REQUEST", makeRequest(keys, "system:node:n1")),
  "another name": printPem("CERTIFICATE REQUEST", makeRequest(keys, "system:node:n2")),
};

const certificateWrites: readonly NodeWrite[] = [
  ...(
    [
      ["", podCertificate()],
      [" for another node", podCertificate({ nodeName: "n2" })],
      [" with another uid of the node", podCertificate({ nodeUID: "x" })],
      [" for a pod that is not there", podCertificate({}, "none")],
      [" with another uid of the pod", podCertificate({ podUID: "x" })],
      [" for a pod of another node", podCertificate({}, "foreign")],
      [" for a mirror pod", podCertificate({}, "mirror")],
      [" for another account", podCertificate({ serviceAccountName: "default" })],
      [" with another uid of the account", podCertificate({ serviceAccountUID: "x" })],
      [" of a signer that is not mounted", podCertificate({ signerName: "example.com/other" })],
      [" of a signer that a role grants", podCertificate({ signerName: "example.com/granted" })],
    ] as const
  ).map(([title, body]) => ({
    title: `a PodCertificateRequest${title}`,
    method: "POST",
    path: POD_CERTIFICATES,
    body,
  })),
  {
    title: "a PodCertificateRequest of a node that is not there",
    method: "POST",
    path: POD_CERTIFICATES,
    user: "system:node:n3",
    body: podCertificate({ nodeName: "n3" }),
  },
  ...["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet", "example.com/x"].flatMap(
    (signerName) =>
      Object.entries(REQUESTS).map(([title, request]) => ({
        title: `a CertificateSigningRequest of ${signerName} with ${title}`,
        method: "POST",
        path: SIGNING,
        body: {
          metadata: { name: "r" },
          spec: { signerName, request: Buffer.from(request).toString("base64"), usages: ["client auth"] },
        },
      })),
  ),
];

/** Writes as a node, one by one. */
export const NODE_WRITES: readonly NodeWrite[] = [
  ...podWrites,
  ...nodeWrites,
  ...claimWrites,
  ...tokenWrites,
  ...leaseWrites,
  ...certificateWrites,
];
