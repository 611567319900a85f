import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Random } from "../random.ts";

/** Labels by which Pods of a sequence find its nodes. */
export const NODE_LABEL = "fuzz.example.com/namespace";
/** Keeps an object that is being deleted until a step removes it. */
export const HOLD = "fuzz.example.com/hold";

const IMAGES = ["web:1", "web:2", "registry.example.com/team/web:1.0.3"];

/** Members that a Pod template may have. Their order and values go into its hash. */
const SPEC_MEMBERS: readonly ((random: Random) => JsonObject)[] = [
  (random) => ({ terminationGracePeriodSeconds: random.pick([0, 5, 60]) }),
  (random) => ({ priorityClassName: random.pick(["system-node-critical", "system-cluster-critical"]) }),
  () => ({ securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 2000, sysctls: [] } }),
  () => ({ tolerations: [{ key: "spot", operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 }] }),
  () => ({ volumes: [{ name: "work", emptyDir: { sizeLimit: "1Gi" } }] }),
  () => ({ dnsPolicy: "None", dnsConfig: { nameservers: ["10.0.0.10"], options: [{ name: "ndots", value: "2" }] } }),
  () => ({ hostAliases: [{ ip: "10.1.2.3", hostnames: ["db.example.com"] }] }),
  () => ({ schedulerName: "default-scheduler", enableServiceLinks: false, shareProcessNamespace: true }),
  () => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "ScheduleAnyway",
        labelSelector: { matchLabels: { app: "x" } },
      },
    ],
  }),
  () => ({
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 5, podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { app: "x" } } } },
        ],
      },
    },
  }),
  () => ({ initContainers: [{ name: "init", image: "init:1", command: ["true"] }] }),
  () => ({ initContainers: [{ name: "sidecar", image: "proxy:1", restartPolicy: "Always" }] }),
];

const CONTAINER_MEMBERS: readonly ((random: Random) => JsonObject)[] = [
  (random) => ({
    env: [
      { name: "A", value: random.pick(["1", "", "ü"]) },
      { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    ],
  }),
  (random) => ({
    ports: [{ name: "http", containerPort: random.pick([80, 8080]), protocol: random.pick(["TCP", "UDP"]) }],
  }),
  (random) => ({
    resources: { requests: { cpu: random.pick(["1m", "0.002", "3e-3"]), memory: "1Mi" }, limits: { memory: "2Mi" } },
  }),
  () => ({
    readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 3 },
    ports: [{ name: "http", containerPort: 80 }],
  }),
  () => ({ livenessProbe: { exec: { command: ["true"] }, failureThreshold: 7 } }),
  () => ({ lifecycle: { preStop: { exec: { command: ["sleep", "1"] } } } }),
  () => ({ securityContext: { privileged: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true } }),
  () => ({ args: ["--verbose", "%d", "<&>"], workingDir: "/srv", tty: true, stdin: true }),
  () => ({ imagePullPolicy: "Always", terminationMessagePolicy: "FallbackToLogsOnError" }),
];

/** A random Pod template. Its Pods run on the nodes of the sequence unless `isStuck`. */
export function randomTemplate(random: Random, namespace: string, labels: JsonObject, isStuck: boolean): JsonObject {
  const members = (table: readonly ((random: Random) => JsonObject)[]) =>
    Object.assign({}, ...random.some(2, () => random.pick(table)(random)));
  const metadata: JsonObject = { labels: { ...labels, ...(random.chance(0.2) && { tier: "front" }) } };
  if (random.chance(0.25)) metadata.annotations = { "example.com/note": random.pick(["a", "b"]) };
  return {
    metadata,
    spec: {
      automountServiceAccountToken: false,
      nodeSelector: { [NODE_LABEL]: isStuck ? "no-node" : namespace },
      containers: [{ name: "main", image: random.pick(IMAGES), ...members(CONTAINER_MEMBERS) }],
      ...members(SPEC_MEMBERS),
    },
  };
}
