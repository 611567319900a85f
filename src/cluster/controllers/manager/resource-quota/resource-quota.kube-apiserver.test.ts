import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type Answer, type Client, clientFor } from "../../../../../test/support/client.ts";
import { startOracle } from "../../../../../test/support/oracle.ts";
import { freePort } from "../../../../../test/support/ports.ts";
import { startProcess } from "../../../../../test/support/process.ts";
import { eventually } from "../../../../../test/support/time.ts";
import { requireTool, wants } from "../../../../../test/support/tools.ts";
import { startServer } from "../../../../programs/library/start-server.ts";

const NAMESPACE = "/api/v1/namespaces/default";
const CONTROLLER = "resourcequota-controller";

type Step = readonly [method: string, path: string, body?: object];

const create = (plural: string, name: string, more: object = {}, api = NAMESPACE): Step => [
  "POST",
  `${api}/${plural}`,
  { metadata: { name }, ...more },
];
const quota = (name: string, hard: object, more: object = {}) =>
  create("resourcequotas", name, { spec: { hard, ...more } });
const pod = (name: string, requests: object, limits: object = {}, spec: object = {}) =>
  create("pods", name, { spec: { containers: [{ name: "a", image: "a", resources: { requests, limits } }], ...spec } });
const claim = (name: string, storage: string, more: object = {}) =>
  create("persistentvolumeclaims", name, {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
  });
const service = (name: string, type: string, ports: number) =>
  create("services", name, {
    spec: { type, ports: Array.from({ length: ports }, (_, at) => ({ name: `p${at}`, port: 80 + at })) },
  });
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/** After each list of steps, both servers must show the same usage. */
const STEPS: readonly (readonly Step[])[] = [
  [
    create("serviceaccounts", "default"),
    create("configmaps", "before"),
    pod("before", { cpu: "100m", memory: "64Mi" }),
    claim("before", "1500m"),
    service("before", "NodePort", 2),
    ["POST", LEASES, { metadata: { name: "before" }, spec: {} }],
  ],
  [
    quota("compute", {
      ...{
        pods: "4",
        "count/pods": "5",
        cpu: "2",
        "limits.cpu": "3",
        "requests.memory": "1Gi",
        "limits.memory": "2Gi",
      },
      "requests.example.com/gpu": "2",
    }),
    quota("objects", {
      ...{ configmaps: "3", secrets: "0", services: "3", "services.nodeports": "5", "services.loadbalancers": "1" },
      ...{ "count/leases.coordination.k8s.io": "2", "count/unknown.example.com": "1", resourcequotas: "9" },
    }),
    quota("storage", {
      ...{ persistentvolumeclaims: "3", "requests.storage": "10Gi" },
      ...{ "gold.storageclass.storage.k8s.io/requests.storage": "5Gi" },
    }),
    quota("best", { pods: "2" }, { scopes: ["BestEffort"] }),
    quota("ending", { pods: "2", cpu: "1" }, { scopeSelector: selector("Terminating", "Exists") }),
    quota("urgent", { pods: "1" }, { scopeSelector: selector("PriorityClass", "In", ["system-cluster-critical"]) }),
  ],
  [
    create("configmaps", "one"),
    create("configmaps", "two"),
    create("configmaps", "three"),
    create("secrets", "none"),
    pod("plain", { cpu: "500m", memory: "1Mi" }, { cpu: "1", memory: "1Gi" }),
    pod("short", { cpu: "250m", memory: "1Mi" }, { cpu: "1", memory: "1Mi" }, { activeDeadlineSeconds: 60 }),
    pod("greedy", { cpu: "3", memory: "1Mi" }, { cpu: "3", memory: "1Mi" }),
    pod("vague", {}),
    claim("gold", "4Gi", { storageClassName: "gold" }),
    claim("more", "2Gi", { storageClassName: "gold" }),
    service("balanced", "LoadBalancer", 2),
    service("second", "LoadBalancer", 1),
    ["POST", LEASES, { metadata: { name: "one" }, spec: {} }],
    ["POST", LEASES, { metadata: { name: "two" }, spec: {} }],
  ],
  [
    ["DELETE", `${NAMESPACE}/configmaps/one`],
    ["DELETE", `${NAMESPACE}/pods/short?gracePeriodSeconds=0`],
    ["DELETE", `${LEASES}/before`],
    ["PATCH", `${NAMESPACE}/pods/plain/status`, { status: { phase: "Succeeded" } }],
    ["PATCH", `${NAMESPACE}/services/balanced`, { spec: { type: "ClusterIP" } }],
    ["PATCH", `${NAMESPACE}/resourcequotas/objects`, { spec: { hard: { configmaps: "1", secrets: null } } }],
  ],
  [
    create("configmaps", "late"),
    create("secrets", "late"),
    pod("late", { cpu: "1", memory: "1Mi" }, { cpu: "1", memory: "1Mi" }),
  ],
];

/** Which of them delete objects. */
const DELETIONS = 3;

function selector(scopeName: string, operator: string, values?: readonly string[]) {
  return { matchExpressions: [{ scopeName, operator, ...(values && { values }) }] };
}

function send(client: Client, [method, place, body]: Step): Promise<Answer> {
  const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return client.call(method, place, body, body ? { "content-type": contentType } : {});
}

type Usage = readonly (readonly [name: string, status: { readonly used?: Readonly<Record<string, string>> }])[];

/** The status of each ResourceQuota, by name. */
async function usage(client: Client): Promise<Usage> {
  const { body } = await client.call("GET", `${NAMESPACE}/resourcequotas`);
  return body.items.map(({ metadata, status }: { metadata: { name: string }; status: unknown }) => [
    metadata.name,
    status,
  ]);
}

/** Starts kube-controller-manager with only the controller of quotas. */
async function startManager(base: string, token: string, folder: string) {
  const kubeconfig = path.join(folder, "kubeconfig");
  const named = (name: string, content: object) => [{ name: "x", [name]: content }];
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "x" },
    clusters: named("cluster", { server: base, "insecure-skip-tls-verify": true }),
    users: named("user", { token }),
    contexts: named("context", { cluster: "x", user: "x" }),
  };
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return startProcess(requireTool("kube-controller-manager"), [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${CONTROLLER}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${await freePort()}`,
    `--cert-dir=${folder}`,
    "--leader-elect=false",
  ]);
}

test(
  "counts and limits like kube-controller-manager with kube-apiserver",
  wants("etcd", "kube-apiserver", "kube-controller-manager"),
  async (t) => {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-quota-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const oracle = await startOracle();
    t.after(() => oracle.kill());
    const manager = await startManager(oracle.base, oracle.tokens.admin, folder);
    t.after(() => manager.kill());
    await using server = await startServer({ controllers: CONTROLLER, store: { type: "memory" }, log: false });
    const [real, own] = [clientFor(oracle.base, oracle.tokens.admin), clientFor(server.url, server.token)];
    for (const [at, steps] of STEPS.entries()) {
      for (const step of steps) {
        const [expected, found] = [await send(real, step), await send(own, step)];
        const what = JSON.stringify(step);
        assert.deepEqual([found.status, found.body.message], [expected.status, expected.body.message], what);
      }
      const both: { real: Usage; own: Usage } = { real: [], own: [] };
      const compare = async () => {
        both.real = await usage(real);
        both.own = await usage(own);
        return isDeepStrictEqual(both.own, both.real) && isCounted(both.own, at === DELETIONS);
      };
      await eventually(compare, { everyMs: 100, what: () => JSON.stringify(both, null, 1) });
    }
  },
);

/** Usage that both servers must reach after the deletions, before the next steps. */
const RELEASED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  compute: { pods: "1", cpu: "100m" },
  objects: { configmaps: "2", "count/leases.coordination.k8s.io": "1", "services.loadbalancers": "0" },
  ending: { pods: "0" },
};

/** Whether the controllers have set the status of every quota and, after deletions, recounted. */
function isCounted(quotas: Usage, isReleased: boolean): boolean {
  return quotas.every(([name, { used }]) => {
    const expected = isReleased ? (RELEASED[name] ?? {}) : {};
    return used !== undefined && Object.entries(expected).every(([resource, amount]) => used[resource] === amount);
  });
}
