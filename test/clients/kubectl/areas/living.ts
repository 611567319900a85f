import type { JsonObject } from "../../../../src/base/api/object.ts";
import { type Area, managersOf } from "../cases.ts";
import { configMap, definition, node, pod, workload } from "../manifests.ts";

const probed: JsonObject = pod("target", {
  labels: { app: "target" },
  annotations: { note: "kept" },
  spec: {
    initContainers: [{ name: "first", image: "example.com/first:1" }],
    containers: [
      {
        name: "main",
        image: "example.com/main:1",
        livenessProbe: { exec: { command: ["true"] } },
        readinessProbe: { exec: { command: ["true"] } },
        startupProbe: { exec: { command: ["true"] } },
      },
    ],
  },
});
const restricted = (type: string) =>
  pod("target", {
    spec: {
      securityContext: {
        runAsNonRoot: true,
        seccompProfile: type === "Localhost" ? { type, localhostProfile: "a.json" } : { type },
      },
      containers: [
        {
          name: "main",
          image: "example.com/main:1",
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, runAsUser: 2000 },
        },
      ],
    },
  });

const DEBUG = "-it --image=example.com/busybox:1 --attach=false";
const EPHEMERAL = "get pod target -o jsonpath={.spec.ephemeralContainers}";
const COPY = "get pod copy -o yaml";

/** `kubectl debug`. */
export const debug: Area = {
  name: "debug",
  cases: [
    {
      title: "a container beside others, and copies",
      files: { "probed.json": probed },
      steps: [
        "create -f probed.json",
        `debug target ${DEBUG} -c debugger`,
        EPHEMERAL,
        `debug target ${DEBUG} -c debugger`,
        `debug target ${DEBUG} --copy-to=copy --container=debugger`,
        COPY,
        "delete pod copy",
        `debug target ${DEBUG} --copy-to=copy --container=debugger --keep-labels=true --keep-annotations=true --keep-liveness=true --keep-readiness=true --keep-startup=true --keep-init-containers=false`,
        COPY,
        "delete pod copy",
        `debug target --image=example.com/busybox:1 --container=main --copy-to=copy --attach=false -- sleep 1m`,
        COPY,
        `debug target ${DEBUG} --copy-to=copy --container=debugger`,
        "delete pod copy",
        `debug target ${DEBUG} --copy-to=copy --set-image=*=example.com/other:1 --share-processes --same-node`,
        `debug target --copy-to=copy --set-image=*=example.com/other:1 --share-processes`,
        `debug target ${DEBUG} --copy-to=other --container=debugger --replace`,
        "get pods",
        `debug nowhere ${DEBUG}`,
        "debug target",
        `debug other ${DEBUG} --target=nowhere -c more`,
      ],
    },
    ...["legacy", "general", "baseline", "restricted", "netadmin", "sysadmin"].map((profile) => ({
      title: `profile ${profile}`,
      steps: [
        "run target --image=example.com/main:1",
        { run: "create -f -", input: node(`kubectl-debug-${profile}`) },
        `debug target ${DEBUG} -c debugger --profile=${profile}`,
        EPHEMERAL,
        `debug target ${DEBUG} --copy-to=copy --container=debugger --profile=${profile}`,
        COPY,
        `debug node/kubectl-debug-${profile} --image=example.com/busybox:1 --attach=false --profile=${profile} -- true`,
        `get pods --field-selector=spec.nodeName=kubectl-debug-${profile} -o jsonpath={.items[0].spec}`,
        `delete node kubectl-debug-${profile}`,
      ],
    })),
    ...["RuntimeDefault", "Localhost"].map((type) => ({
      title: `in a restricted namespace, ${type}`,
      files: { "target.json": restricted(type) },
      steps: [
        "label namespace %{namespace} pod-security.kubernetes.io/enforce=restricted",
        "get namespace %{namespace} --show-labels",
        "create -f target.json",
        `debug target ${DEBUG} -c debugger --profile=restricted`,
        EPHEMERAL,
        `debug target ${DEBUG} -c other --profile=sysadmin`,
        `debug target ${DEBUG} --copy-to=copy --container=debugger --profile=restricted`,
        COPY,
        "run plain --image=example.com/main:1",
        `debug target ${DEBUG} -c warned --profile=netadmin`,
      ],
    })),
    {
      title: "custom profiles",
      files: {
        "custom.json": { env: [{ name: "A", value: "1" }], securityContext: { capabilities: { add: ["NET_RAW"] } } },
        "custom.yaml": "imagePullPolicy: IfNotPresent\nvolumeMounts: []\n",
        "wrong.yaml": "nonsense: true\n",
      },
      steps: [
        "run target --image=example.com/main:1",
        `debug target ${DEBUG} -c debugger --profile=general --custom=custom.json`,
        `debug target ${DEBUG} -c debugger-2 --profile=general --custom=custom.yaml`,
        EPHEMERAL,
        `debug target ${DEBUG} --copy-to=copy -c debugger-3 --profile=general --custom=custom.json`,
        COPY,
        `debug target ${DEBUG} -c debugger-4 --custom=wrong.yaml`,
        `debug target ${DEBUG} -c debugger-4 --profile=nonsense`,
      ],
    },
  ],
};

/** `kubectl exec`, and its relatives, where no node runs a pod. */
export const exec: Area = {
  name: "exec",
  cases: [
    {
      title: "pods that are not there, not placed or of several containers",
      files: {
        "pod.json": pod("web"),
        "two.json": pod("two", {
          annotations: { "kubectl.kubernetes.io/default-container": "second" },
          spec: { containers: ["first", "second"].map((name) => ({ name, image: "example.com/main:1" })) },
        }),
        "set.json": workload("ReplicaSet", "set"),
        "map.json": configMap("map", {}),
      },
      steps: [
        "exec nowhere -- date",
        { run: "exec -f - -- echo test", input: [pod("one"), pod("two")] },
        "create -f pod.json -f two.json -f set.json -f map.json",
        "exec web date",
        "exec web",
        "exec web -- date",
        "exec web -c nowhere -- date",
        "exec two -- date",
        "exec -it two -c first -- echo test",
        "exec -f pod.json -- date",
        "exec foo/bar -- date",
        "exec deployments/bar -- date",
        "exec configmap/map -- date",
        "exec pods/web -- date",
        "exec replicaset/set --pod-running-timeout=1s -- date",
        "logs web",
        "logs two -c nowhere",
        "logs two --all-containers",
        "logs deployment/nowhere",
        "logs -l app=nobody",
        "attach web",
        "attach nowhere",
        "port-forward pod/web 8080:80 --pod-running-timeout=1s",
        "port-forward pod/nowhere 8080:80",
        "cp web:/etc/hosts hosts",
        "top pods",
        "top nodes",
      ],
    },
  ],
};

const event = (name: string, type: string, reason: string, regarding: JsonObject, at: string): JsonObject => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name },
  involvedObject: { namespace: "%{namespace}", ...regarding },
  reason,
  message: `${reason} happened`,
  source: { component: "test" },
  firstTimestamp: at,
  lastTimestamp: at,
  count: 1,
  type,
});
const cronjob = { apiVersion: "batch/v1", kind: "CronJob", name: "pi" };

/** `kubectl events`, of events that are made by hand. */
export const events: Area = {
  name: "events",
  cases: [
    {
      title: "by object, type and form",
      files: {
        "definition.json": definition("events.example.com", ["CronJob", "cronjobs"]),
        "custom.json": { apiVersion: "events.example.com/v1", kind: "CronJob", metadata: { name: "pi" } },
        "events.json": [
          event("one", "Warning", "InvalidSchedule", cronjob, "2026-01-01T00:00:00Z"),
          event("two", "Normal", "Created", { ...cronjob, name: "other" }, "2026-01-02T00:00:00Z"),
          event("three", "Normal", "Scheduled", { apiVersion: "v1", kind: "Pod", name: "web" }, "2026-01-03T00:00:00Z"),
        ],
      },
      steps: [
        "events",
        "create cronjob pi --schedule='59 23 31 2 *' --image=example.com/perl:5",
        "create -f definition.json",
        "wait --timeout=20s --for=condition=Established crd/cronjobs.events.example.com",
        "create -f custom.json",
        "create -f events.json",
        { run: "events -o jsonpath={.items[*].reason}" },
        ...[
          "--for=CronJob/pi",
          "--for=Cronjob.v1.batch/pi",
          "--for=Cronjob.v1.events.example.com/pi",
          "--for=CronJob.batch/pi",
          "--for=CronJob/pi --types=Warning",
          "--for=CronJob/pi --types=Normal",
          "--types=Normal,Warning",
        ].map((flags) => `events ${flags} -o jsonpath={.items[*].reason}`),
        "events --for=CronJob/pi -o json",
        "events --for=CronJob/pi -o yaml",
        "events --for=CronJob/pi -o name",
        "events --types=Nonsense",
        "events --for=nonsense",
        "events --for=nonsense/pi",
        "get events -o name",
        "get events --field-selector=reason=Created -o name",
        "get events --field-selector=involvedObject.kind=Pod,type=Normal -o name",
        "get events.events.k8s.io one -o yaml",
        { run: "events --for=CronJob/pi --watch -o name", until: "one" },
        "delete cronjobs.v1.events.example.com pi",
        "delete crd cronjobs.events.example.com",
      ],
    },
  ],
};

const placed = (name: string, on: string, labels: Record<string, string>, more: JsonObject = {}) =>
  pod(name, { labels, spec: { nodeName: on, terminationGracePeriodSeconds: 0, ...more } });

/** Nodes are tainted, cordoned and drained. */
export const nodeManagement: Area = {
  name: "node-management",
  cases: [
    {
      title: "taints",
      steps: [
        { run: "create -f -", input: node("kubectl-tainted") },
        "taint node kubectl-tainted --dry-run=client dedicated=foo:PreferNoSchedule",
        "taint node kubectl-tainted --dry-run=server dedicated=foo:PreferNoSchedule",
        "taint node kubectl-tainted dedicated=foo:PreferNoSchedule",
        "taint node kubectl-tainted dedicated=foo:PreferNoSchedule",
        "taint node kubectl-tainted dedicated=bar:PreferNoSchedule --overwrite",
        "taint node kubectl-tainted dedicated-",
        "taint node kubectl-tainted dedicated-",
        "taint node kubectl-tainted dedicated:PreferNoSchedule",
        "get node kubectl-tainted -o jsonpath={.spec.taints}",
        managersOf("node kubectl-tainted"),
        "taint node kubectl-tainted dedicated- --dry-run=server",
        "taint node kubectl-tainted dedicated=foo:Nonsense",
        "taint node kubectl-tainted a=b",
        "taint node nowhere a=b:NoSchedule",
        "delete node kubectl-tainted",
      ],
    },
    {
      title: "cordon and drain",
      files: {
        "node.json": node("kubectl-drained", { drain: "kubectl" }),
        "one.json": placed("one", "kubectl-drained", { e: "f" }),
        "two.json": placed("two", "kubectl-drained", { g: "h" }),
        "data.json": placed(
          "data",
          "kubectl-drained",
          { e: "f", data: "yes" },
          { volumes: [{ name: "data", emptyDir: {} }] },
        ),
      },
      steps: [
        "create -f node.json -f one.json -f two.json",
        "cordon kubectl-drained --dry-run=client",
        "cordon kubectl-drained --dry-run=server",
        "get node kubectl-drained",
        { run: "drain kubectl-drained --dry-run=client --force", compare: "lines" },
        { run: "drain kubectl-drained --dry-run=server --force", compare: "lines" },
        "drain kubectl-drained",
        "uncordon kubectl-drained",
        "drain kubectl-drained --pod-selector='e in (f)' --dry-run=client --force",
        "drain kubectl-drained --pod-selector='e in (f)' --dry-run=server --force",
        "drain kubectl-drained --force --pod-selector='e in (f)' --skip-wait-for-delete-timeout=1 --timeout=30s",
        "get pods",
        "uncordon kubectl-drained",
        "uncordon kubectl-drained --dry-run=client",
        "uncordon kubectl-drained --dry-run=server",
        "uncordon kubectl-drained",
        "create -f data.json",
        "drain kubectl-drained --force --pod-selector=data=yes",
        "drain kubectl-drained --selector=drain=kubectl",
        {
          run: "--v=6 drain --force --pod-selector='g in (h)' --selector=drain=kubectl --chunk-size=1 --dry-run=client",
          compare: "requests",
        },
        {
          run: "drain kubectl-drained --force --delete-emptydir-data --disable-eviction --dry-run=server",
          compare: "lines",
        },
        "cordon",
        "cordon --selector=",
        "uncordon kubectl-drained",
        "cordon --selector=drain=kubectl",
        "cordon --selector=drain=nobody",
        "cordon nowhere",
        "delete pods --all --force --grace-period=0",
        "describe node kubectl-drained",
        "delete node kubectl-drained",
      ],
    },
  ],
};

const status = (name: string, value: JsonObject) =>
  `patch deployment ${name} --subresource=status --type=merge -p '${JSON.stringify({ status: value })}'`;

/** `kubectl wait`. */
export const waiting: Area = {
  name: "wait",
  cases: [
    {
      title: "for creation, deletion, conditions and values",
      steps: [
        "wait --for=create deploy/one --timeout=1s",
        "create deployment one --image=example.com/main:1",
        "create deployment two --image=example.com/main:1",
        "wait --for=create deploy/one --timeout=20s",
        "wait --for=jsonpath=.status.readyReplicas=1 deploy/one --timeout=1s",
        {
          run: "wait --for=jsonpath=.status.unavailableReplicas=1 deploy/one --timeout=60s",
          meanwhile: [status("one", { replicas: 1, unavailableReplicas: 1 })],
        },
        "wait --for=jsonpath='{.status.replicas}' deploy/one --timeout=20s",
        "wait --for=jsonpath='{.status.replicas}' deploy/one --timeout=0",
        "wait --for=jsonpath={.status.replicas}=1 --for=jsonpath={.spec.replicas}=1 deploy/one --timeout=20s",
        {
          run: "wait --for=condition=Available deployment/one --timeout=60s",
          meanwhile: [
            status("one", {
              replicas: 1,
              conditions: [
                {
                  type: "Available",
                  status: "True",
                  lastUpdateTime: "2026-01-01T00:00:00Z",
                  lastTransitionTime: "2026-01-01T00:00:00Z",
                  reason: "R",
                  message: "m",
                },
              ],
            }),
          ],
        },
        "wait --for=condition=Available=False deployment/one --timeout=1s",
        "wait --for=condition=Nonsense deployment/one deployment/two --timeout=1s",
        {
          run: "wait deployment --for=delete --all --timeout=60s",
          meanwhile: ["delete deployment --all"],
          compare: "code",
        },
        "wait --for=delete deployment/one --timeout=20s",
        "wait --for=create deploy -l app=later --timeout=1s",
        {
          run: "wait --for=create deploy -l app=later --timeout=60s",
          meanwhile: ["create deployment later --image=example.com/main:1"],
        },
        "wait pod --selector=app=nobody --for=condition=Ready --timeout=1s",
        "wait pod/nowhere --for=condition=Ready --timeout=1s",
        "wait pod/nowhere --for=nonsense",
        "wait --for=condition=Ready",
        "wait pod/nowhere --for=jsonpath={.a",
      ],
    },
  ],
};
