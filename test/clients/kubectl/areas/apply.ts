import { type Area, managersOf } from "../cases.ts";
import { configMap, definition, pod, service, workload } from "../manifests.ts";

const strategy = (type: string, more = {}) => ({ strategy: { type, ...more } });
const volumes = (source: object) => ({
  template: {
    metadata: { labels: { app: "keys" } },
    spec: {
      containers: [{ name: "main", image: "example.com/main:1" }],
      volumes: [{ name: "data", ...source }],
    },
  },
});

/** `kubectl apply`, by kubectl itself and by the server. */
export const apply: Area = {
  name: "apply",
  cases: [
    {
      title: "an object is created, left alone, changed, and its manifest is remembered",
      files: {
        "pod.json": pod("web", { labels: { tier: "one" } }),
        "next.json": pod("web", { labels: { tier: "two" } }),
      },
      steps: [
        "apply -f pod.json",
        "get pod web -o yaml",
        "apply -f pod.json",
        managersOf("-f pod.json"),
        "apply --dry-run=client -f next.json",
        "apply --dry-run=server -f next.json",
        "get pod web -L tier",
        "apply -f next.json",
        "get pod web -L tier",
        "apply view-last-applied pod/web",
        "apply view-last-applied pod web -o json",
        "delete pod web",
        "apply view-last-applied pod/web",
      ],
    },
    {
      title: "the manifest of an object that was created otherwise is remembered when asked for",
      files: { "pod.json": pod("web", { labels: { tier: "one" } }) },
      steps: [
        "create -f pod.json",
        "apply view-last-applied pod/web",
        "apply set-last-applied -f pod.json",
        "apply set-last-applied --dry-run=client -f pod.json --create-annotation=true",
        "apply set-last-applied --dry-run=server -f pod.json --create-annotation=true",
        "apply view-last-applied pod/web",
        "apply set-last-applied -f pod.json --create-annotation=true",
        "apply view-last-applied pod/web",
        managersOf("pod web"),
      ],
    },
    {
      title: "keys of a union go when another is chosen",
      files: {
        "before.json": workload("Deployment", "keys", {
          spec: {
            ...strategy("RollingUpdate", { rollingUpdate: { maxSurge: 1, maxUnavailable: 2 } }),
            ...volumes({ emptyDir: {} }),
          },
        }),
        "after.json": workload("Deployment", "keys", {
          spec: { ...strategy("Recreate"), ...volumes({ hostPath: { path: "/tmp/keys" } }) },
        }),
      },
      steps: [
        "apply -f before.json",
        "get deployment keys -o jsonpath={.spec.strategy}{.spec.template.spec.volumes}",
        "apply -f after.json",
        "get deployment keys -o jsonpath={.spec.strategy}{.spec.template.spec.volumes}",
        "delete deployment keys",
      ],
    },
    {
      title: "only labelled documents of a folder are applied",
      files: {
        "folder/taken.json": pod("taken", { labels: { choose: "me" } }),
        "folder/left.json": pod("left", { labels: { choose: "not-me" } }),
      },
      steps: ["apply -l choose=me -f folder", "get pods left", "get pods -o name"],
    },
    {
      title: "null in a manifest is no change when applied again",
      files: {
        "deployment.yaml":
          "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: nulls\n  annotations:\nspec:\n  replicas: 1\n  selector:\n    matchLabels:\n      app: nulls\n  template:\n    metadata:\n      labels:\n        app: nulls\n    spec:\n      containers:\n      - name: main\n        image: example.com/main:1\n        resources:\n        ports:\n",
        "quota.yaml":
          "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: nulls\n  creationTimestamp: null\nspec:\n  hard:\n    pods: 10\n  scopes: null\n",
      },
      steps: [
        "apply -f deployment.yaml",
        "apply -f deployment.yaml",
        "apply -f quota.yaml",
        "apply -f quota.yaml",
        "get quota nulls -o yaml",
      ],
    },
    {
      title: "pruning takes what is labelled, was applied and is no longer there",
      files: {
        "a.json": pod("a", { labels: { set: "pruned" } }),
        "b.json": pod("b", { labels: { set: "pruned" } }),
        "service.json": service("c", { labels: { set: "pruned" } }),
        "both/a.json": pod("a", { labels: { set: "pruned" } }),
        "both/b.json": pod("b", { labels: { set: "pruned" } }),
      },
      steps: [
        "apply -l set=pruned -f a.json",
        "apply --prune -l set=pruned -f b.json",
        "get pods -o name",
        "apply --prune -f both",
        "apply -f both",
        "apply --prune -l set=pruned -f service.json --prune-allowlist=core/v1/Service",
        "get pods,services -o name",
        "apply --prune -l set=pruned -f service.json --prune-allowlist=core/v1/Pod --prune-allowlist=core/v1/Service",
        "get pods,services -o name",
        "apply --prune -l set=pruned -f service.json --prune-allowlist=nonsense",
        "apply --prune --all -l set=pruned -f service.json",
      ],
    },
    {
      title: "a manifest of another namespace is refused",
      files: { "elsewhere.json": pod("web", { namespace: "elsewhere" }) },
      steps: ["apply -n %{namespace} -f elsewhere.json", "apply -f elsewhere.json"],
    },
    {
      title: "what cannot be changed is refused, and forced by making it anew",
      files: {
        "one.json": service("fixed", { spec: { clusterIP: "10.96.77.1" } }),
        "two.json": service("fixed", { spec: { clusterIP: "10.96.77.2" } }),
      },
      steps: [
        "apply -f one.json",
        "apply -f two.json",
        "apply --force -f two.json",
        "get service fixed -o jsonpath={.spec.clusterIP}",
        "delete -f two.json",
      ],
    },
    {
      title: "a kustomization is applied and deleted",
      files: {
        "kustomization.yaml":
          "namePrefix: made-\ncommonAnnotations:\n  by: kustomize\nresources:\n- deployment.json\n- map.json\n- service.json\n",
        "deployment.json": workload("Deployment", "web"),
        "map.json": configMap("web", { colour: "blue" }),
        "service.json": service("web"),
      },
      steps: [
        "kustomize .",
        "apply -k .",
        "get -k . -o jsonpath={..metadata.name}",
        "get -k . -o name",
        "diff -k .",
        "delete -k .",
        "create -k .",
        "delete --kustomize .",
      ],
    },
    {
      title: "of several documents those that are good are applied",
      files: {
        "namespace.json": [
          pod("early", { namespace: "%{namespace}-late" }),
          { apiVersion: "v1", kind: "Namespace", metadata: { name: "%{namespace}-late" } },
        ],
        "unknown.json": [
          configMap("known", { a: "1" }),
          { apiVersion: "nowhere.example.com/v1", kind: "Bogus", metadata: { name: "bogus" } },
        ],
        "invalid.json": [pod("first"), pod("SECOND"), pod("third")],
        "defined.json": [
          definition("apply.example.com", ["Widget", "widgets"]),
          { apiVersion: "apply.example.com/v1", kind: "Widget", metadata: { name: "late" }, spec: { size: 1 } },
        ],
      },
      steps: [
        "apply -f namespace.json",
        "get namespace %{namespace}-late -o name",
        "apply -f unknown.json",
        "get configmap known -o jsonpath={.data}",
        "apply -f invalid.json",
        "get pods -o name",
        "apply -f defined.json",
        "wait --timeout=20s --for=condition=Established=true crd/widgets.apply.example.com",
        "get widgets late",
        "apply -f defined.json",
        "get widgets late -o jsonpath={.spec}",
        "apply --dry-run=server -f defined.json",
        "delete widget late",
        "delete crd widgets.apply.example.com",
        "get crd widgets.apply.example.com",
      ],
    },
    {
      title: "templates are what the last document leaves of them",
      files: {
        "one.json": workload("Deployment", "labels", { labels: { l1: "l1", l2: "l2" } }),
        "two.json": workload("Deployment", "labels", { labels: { l1: "l1" } }),
        "selector.json": {
          ...workload("Deployment", "labels"),
          spec: {
            replicas: 1,
            selector: { matchLabels: { app: "other" } },
            template: {
              metadata: { labels: { app: "other" } },
              spec: { containers: [{ name: "main", image: "example.com/main:2" }] },
            },
          },
        },
        "stale.json": { ...workload("Deployment", "labels"), metadata: { name: "labels", resourceVersion: "99" } },
        "broken.json": {
          ...workload("Deployment", "labels"),
          spec: { selector: { matchLabels: { a: "b" } }, template: { metadata: { labels: { a: "c" } }, spec: {} } },
        },
      },
      steps: [
        "apply -f one.json",
        "apply -f two.json",
        "get deployment labels -o jsonpath={.metadata.labels}",
        "apply -f stale.json",
        "apply -f selector.json",
        "apply -f selector.json --overwrite=true --force=true --grace-period=10",
        "get deployment labels -o jsonpath={.spec.selector}",
        "apply view-last-applied deployment/labels -o json",
        "apply -f broken.json --force",
        "delete deployment --all --grace-period=10",
      ],
    },
    {
      title: "the server applies, for several managers",
      files: {
        "pod.json": pod("web", { labels: { tier: "one" } }),
        "next.json": pod("web", { labels: { tier: "two" } }),
        "status.json": {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "web" },
          status: { conditions: [{ type: "example.com/Seen", status: "True" }] },
        },
      },
      steps: [
        "apply --server-side --dry-run=server -f pod.json",
        "apply --server-side --dry-run=client -f pod.json",
        "apply --server-side -f pod.json",
        managersOf("-f pod.json"),
        "apply --server-side --field-manager=other -f next.json",
        "apply --server-side --field-manager=other --force-conflicts -f next.json",
        "get -f pod.json -o yaml --show-managed-fields",
        "apply --server-side --subresource=status --field-manager=watcher -f status.json",
        "get -f pod.json -o jsonpath={.status.conditions[*].type}",
        "apply --subresource=status -f status.json",
        "apply --server-side --dry-run=server -f pod.json --force-conflicts",
        "get pod web -L tier",
      ],
    },
    {
      title: "an object moves from kubectl's apply to the server's and back",
      files: {
        "pod.json": pod("web", { labels: { tier: "one" } }),
        "next.json": pod("web", { labels: { tier: "two" } }),
      },
      steps: [
        "apply -f pod.json",
        "apply --server-side --field-manager=not-kubectl -f next.json",
        "apply --server-side -f next.json",
        "apply view-last-applied pod/web -o json",
        "apply --server-side -f pod.json",
        "get pod web -o yaml --show-managed-fields",
        "apply -f next.json",
        "get pod web -o yaml --show-managed-fields",
      ],
    },
    {
      title: "fields that one apply added go with the other's next",
      files: {},
      steps: [
        { run: "apply --server-side=false -f -", input: configMap("moved", { key: "value", legacy: "unused" }) },
        { run: "apply --server-side -f -", input: configMap("moved", { key: "value", legacy: "unused" }) },
        { run: "apply --server-side -f -", input: configMap("moved", { key: "value" }) },
        "get configmap moved -o jsonpath={.data}",
        { run: "apply --server-side=false -f -", input: configMap("moved", { key: "value", next: "1" }) },
        { run: "apply --server-side -f -", input: configMap("moved", { key: "other" }) },
        {
          run: "diff --server-side -f -",
          input: configMap("moved", { key: "other", added: "yes" }, { annotations: { note: "new" } }),
        },
        "get configmap moved -o yaml --show-managed-fields",
        { run: "apply --server-side=false --field-manager=mine -f -", input: configMap("named", { key: "value" }) },
        {
          run: "apply --server-side --field-manager=mine -f -",
          input: configMap("named", { key: "value", second: "1" }),
        },
        "get configmap named -o yaml --show-managed-fields",
      ],
    },
    {
      title: "a custom object is applied on trial",
      files: {
        "definition.json": definition("trial.example.com", ["Trial", "trials"]),
        "object.json": {
          apiVersion: "trial.example.com/v1",
          kind: "Trial",
          metadata: { name: "mine" },
          spec: { size: 1 },
        },
      },
      steps: [
        "create -f definition.json",
        "wait --timeout=20s --for=condition=Established crd/trials.trial.example.com",
        "apply --dry-run=server -f object.json",
        "apply --server-side --dry-run=server -f object.json",
        "get trials mine",
        "apply -f object.json",
        {
          run: "apply -f -",
          input: {
            apiVersion: "trial.example.com/v1",
            kind: "Trial",
            metadata: { name: "mine" },
            spec: { size: 2, more: { a: 1 } },
          },
        },
        {
          run: "apply -f -",
          input: {
            apiVersion: "trial.example.com/v1",
            kind: "Trial",
            metadata: { name: "mine" },
            spec: { more: { b: 1 } },
          },
        },
        "get trials mine -o jsonpath={.spec}",
        "delete crd trials.trial.example.com",
      ],
    },
  ],
};
