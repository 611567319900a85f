import { type FeatureGateName, featureGates } from "../../src/base/api/feature-gates.ts";
import type { JsonObject } from "../../src/base/api/object.ts";

/** The gates that Binnacle can switch. */
export const switchable = (Object.keys(featureGates) as FeatureGateName[]).filter(
  (name) => featureGates[name].implemented === "both",
);

/** Gates that decide about who is calling or about connections and not about objects, and the test that shows both of their sides. */
export const aboutCallers: Partial<Record<FeatureGateName, string>> = {
  AuthorizePodWebsocketUpgradeCreatePermission: "test/api/connect-gates.node.test.ts",
  ExtendWebSocketsToKubelet: "test/api/connect-gates.node.test.ts",
  PortForwardWebsockets: "test/api/connect-gates.node.test.ts",
  TranslateStreamCloseWebsocketRequests: "test/api/connect-gates.node.test.ts",
  PodLogsQuerySplitStreams: "test/api/connect-gates.node.test.ts",
  ConstrainedImpersonation: "src/access/authentication/impersonation/headers.test.ts",
};

/** A flag that gives all of them one value. */
export const gatesFlag = (value: boolean): string =>
  `--feature-gates=${switchable.map((name) => `${name}=${value}`).join(",")}`;

/** Bodies that a gate decides about: what is created, and what is written over it then. */
export interface GatedCase {
  readonly gate: FeatureGateName;
  readonly path: string;
  readonly create: JsonObject;
  readonly updates?: readonly { readonly subresource?: string; readonly body: JsonObject }[];
}

const PODS = "/api/v1/namespaces/fuzz/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/fuzz/deployments";
const SETS = "/apis/apps/v1/namespaces/fuzz/statefulsets";
const JOBS = "/apis/batch/v1/namespaces/fuzz/jobs";
const VOLUMES = "/api/v1/persistentvolumes";
const CLAIMS = "/api/v1/namespaces/fuzz/persistentvolumeclaims";

const pod = (container: JsonObject, spec: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ name: "c", image: "i:1", ...container }], ...spec },
});
const workload = (template: JsonObject, spec: JsonObject = {}): JsonObject => ({
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, ...template },
    ...spec,
  },
});

const mounted = (volume: JsonObject, mount: JsonObject = {}) =>
  pod({ volumeMounts: [{ name: "v", mountPath: "/v", ...mount }] }, { volumes: [{ name: "v", ...volume }] });

const file = { path: "f", key: "k", user: 1000 };
const lifecycle = (stopSignal: string) => ({ lifecycle: { stopSignal } });
const linux = { os: { name: "linux" } };
const http = { path: "/", port: 80 };
const toleration = (operator: string, value: string) => ({ tolerations: [{ key: "k", operator, value }] });

const affinity = (value: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "k", operator: "In", values: [value] }] }] },
});
const volume = (nodeAffinity: JsonObject) => ({
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" }, nodeAffinity },
});
const claim = (dataSourceRef: JsonObject, more: JsonObject = {}) => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, dataSourceRef, ...more },
});
const recreate = (strategy: JsonObject) =>
  workload(pod({}), { serviceName: "s", updateStrategy: { type: "Recreate", ...strategy } });
const mountStatus = (imageRef: string) => ({
  status: {
    containerStatuses: [
      {
        ...{ name: "c", image: "i:1", imageID: "", ready: true, restartCount: 0 },
        volumeMounts: [{ name: "v", mountPath: "/v", volumeStatus: { image: { imageRef } } }],
      },
    ],
  },
});

/** For every gate that can be switched, bodies that it lets through and bodies that are wrong nevertheless. */
export const GATED_CASES: readonly GatedCase[] = [
  { gate: "ContainerStopSignals", path: PODS, create: pod(lifecycle("SIGUSR1"), linux) },
  { gate: "ContainerStopSignals", path: PODS, create: pod(lifecycle("SIGNOT"), linux) },
  { gate: "ContainerStopSignals", path: PODS, create: pod(lifecycle("SIGTERM")) },
  { gate: "ContainerStopSignals", path: DEPLOYMENTS, create: workload(pod(lifecycle("SIGUSR1"), linux)) },
  {
    ...{ gate: "ContainerStopSignals", path: DEPLOYMENTS, create: workload(pod({}, linux)) },
    updates: [{ body: workload(pod(lifecycle("SIGINT"), linux)) }, { body: workload(pod(lifecycle("INT"), linux)) }],
  },
  { gate: "VolumeBindMountOptions", path: PODS, create: mounted({ emptyDir: {} }, { bindMountOptions: ["noexec"] }) },
  {
    ...{ gate: "VolumeBindMountOptions", path: PODS },
    create: mounted({ emptyDir: {} }, { bindMountOptions: ["noexec", "sync", "noexec"] }),
  },
  {
    ...{ gate: "VolumeBindMountOptions", path: PODS },
    create: mounted({ image: { reference: "r" } }, { bindMountOptions: ["nodev"] }),
  },
  { gate: "AtomicWriteVolumeUserFields", path: PODS, create: mounted({ secret: { secretName: "s", defaultUser: 7 } }) },
  {
    ...{ gate: "AtomicWriteVolumeUserFields", path: PODS },
    create: mounted({ configMap: { name: "m", defaultUser: -1, items: [file] } }),
  },
  {
    ...{ gate: "AtomicWriteVolumeUserFields", path: PODS },
    create: mounted({
      projected: {
        defaultUser: 1,
        sources: [
          { secret: { name: "s", items: [file] } },
          { serviceAccountToken: { path: "t", expirationSeconds: 3600, user: -5 } },
        ],
      },
    }),
  },
  { gate: "EmptyDirVolumeMode", path: PODS, create: mounted({ emptyDir: { mode: 0o750 } }) },
  { gate: "EmptyDirVolumeMode", path: PODS, create: mounted({ emptyDir: { mode: 0o2000 } }) },
  { gate: "EmptyDirVolumeMode", path: JOBS, create: { spec: { template: mounted({ emptyDir: { mode: 0 } }) } } },
  {
    ...{ gate: "EmptyDirVolumeMode", path: JOBS },
    create: {
      spec: {
        template: { spec: { ...(mounted({ emptyDir: { mode: 0o700 } }).spec as JsonObject), restartPolicy: "Never" } },
      },
    },
  },
  { gate: "GRPCContainerProbeTLS", path: PODS, create: pod({ livenessProbe: { grpc: { port: 1, mode: "TLS" } } }) },
  { gate: "GRPCContainerProbeTLS", path: PODS, create: pod({ startupProbe: { grpc: { port: 1, mode: "tls" } } }) },
  { gate: "GRPCContainerProbeTLS", path: PODS, create: pod({ readinessProbe: { grpc: { port: 1 } } }) },
  { gate: "H2CContainerProbe", path: PODS, create: pod({ livenessProbe: { httpGet: http } }) },
  { gate: "H2CContainerProbe", path: PODS, create: pod({ lifecycle: { preStop: { httpGet: http } } }) },
  {
    gate: "H2CContainerProbe",
    path: PODS,
    create: pod({ livenessProbe: { httpGet: { ...http, protocol: "HTTP2" } } }),
  },
  {
    ...{ gate: "H2CContainerProbe", path: PODS },
    create: pod({ livenessProbe: { httpGet: { ...http, scheme: "HTTPS", protocol: "HTTP2" } } }),
  },
  {
    ...{ gate: "H2CContainerProbe", path: PODS },
    create: pod({ lifecycle: { postStart: { httpGet: { ...http, host: "h", protocol: "HTTP2" } } } }),
  },
  { gate: "H2CContainerProbe", path: PODS, create: pod({ livenessProbe: { httpGet: { ...http, protocol: "H3" } } }) },
  { gate: "H2CContainerProbe", path: DEPLOYMENTS, create: workload(pod({ livenessProbe: { httpGet: http } })) },
  {
    ...{ gate: "ImageVolumeWithDigest", path: PODS, create: mounted({ image: { reference: "r" } }) },
    updates: ["r@sha256:1", "", "x".repeat(300)].map((ref) => ({ subresource: "status", body: mountStatus(ref) })),
  },
  {
    ...{ gate: "MutablePVNodeAffinity", path: VOLUMES, create: volume(affinity("a")) },
    updates: [{ body: volume(affinity("b")) }, { body: volume(affinity("-")) }],
  },
  {
    ...{ gate: "CrossNamespaceVolumeDataSource", path: CLAIMS },
    create: claim({ kind: "PersistentVolumeClaim", name: "n", namespace: "other" }),
  },
  {
    ...{ gate: "CrossNamespaceVolumeDataSource", path: CLAIMS },
    create: claim({ kind: "K", apiGroup: "g.example", name: "n", namespace: "Other." }),
  },
  {
    ...{ gate: "CrossNamespaceVolumeDataSource", path: CLAIMS },
    create: claim(
      { kind: "PersistentVolumeClaim", name: "n", namespace: "other" },
      { dataSource: { kind: "PersistentVolumeClaim", name: "n" } },
    ),
  },
  { gate: "StatefulSetRecreateStrategy", path: SETS, create: recreate({}) },
  { gate: "StatefulSetRecreateStrategy", path: SETS, create: recreate({ rollingUpdate: { partition: 1 } }) },
  { gate: "StatefulSetRecreateStrategy", path: SETS, create: recreate({ type: "Other" }) },
  {
    ...{ gate: "StatefulSetRecreateStrategy", path: SETS, create: recreate({ type: "OnDelete" }) },
    updates: [{ body: recreate({}) }, { body: recreate({ type: "None" }) }],
  },
  { gate: "TaintTolerationComparisonOperators", path: PODS, create: pod({}, toleration("Lt", "100")) },
  { gate: "TaintTolerationComparisonOperators", path: PODS, create: pod({}, toleration("Gt", "010")) },
  { gate: "TaintTolerationComparisonOperators", path: PODS, create: pod({}, toleration("Gt", "9223372036854775808")) },
  { gate: "TaintTolerationComparisonOperators", path: PODS, create: pod({}, toleration("Ge", "1")) },
  { gate: "TaintTolerationComparisonOperators", path: DEPLOYMENTS, create: workload(pod({}, toleration("Gt", "5"))) },
  { gate: "UserNamespacesHostNetworkSupport", path: PODS, create: pod({}, { hostUsers: false, hostNetwork: true }) },
  {
    ...{ gate: "UserNamespacesHostNetworkSupport", path: PODS },
    create: pod({}, { hostUsers: false, hostNetwork: true, hostPID: true }),
  },
  {
    ...{ gate: "UserNamespacesHostNetworkSupport", path: SETS },
    create: workload(pod({}, { hostUsers: false, hostNetwork: true }), { serviceName: "s" }),
  },
];
