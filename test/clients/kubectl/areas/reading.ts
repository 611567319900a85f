import type { JsonObject } from "../../../../src/base/api/object.ts";
import type { Area } from "../cases.ts";
import { configMap, controller, definition, pod, service, workload } from "../manifests.ts";

const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
const sized = (name: string, label: string, container: string, cpu: string, memory: string) =>
  pod(name, {
    labels: { name: label },
    spec: { containers: [{ name: container, image: "example.com/main:1", resources: resources(cpu, memory) }] },
  });

/** `kubectl get`. */
export const get: Area = {
  name: "get",
  cases: [
    {
      title: "what is not there",
      steps: [
        "get pods abc",
        "get pods abc -o name",
        ...[
          "json",
          "yaml",
          "name",
          "jsonpath={.items}",
          "go-template={{.items}}",
          "custom-columns=NAME:.metadata.name",
        ].map((format) => `get pods -o ${format}`),
        "get foobar",
        "get pods",
        "get pods --ignore-not-found",
        "get pods -o wide",
        "get pods abc -o json",
        "get pods abc --ignore-not-found",
        "get pods/abc services/def",
        "get pods abc services",
        "get pods -o nonsense",
        "get nonsense.example.com",
        "get pods,services",
        "get all",
      ],
    },
    {
      title: "which requests are made",
      steps: [
        { run: "--v=6 get all --chunk-size=0", compare: "requests" },
        { run: "--v=6 get clusterrole --chunk-size=30", compare: "requests" },
        { run: "--v=6 get clusterrole", compare: "requests" },
        "get namespaces default kube-public kube-system --no-headers -o custom-columns=NAME:.metadata.name,STATUS:.status.phase",
        "create configmap one",
        "create configmap two",
        "create configmap three",
        "get configmap --chunk-size=1",
        "get configmap --chunk-size=1 -o name",
        "get configmap --chunk-size=1 --watch --request-timeout=1s",
        "get configmap --chunk-size=1 --watch-only --request-timeout=1s",
      ],
    },
    {
      title: "templates, missing keys and subresources",
      files: { "web.json": pod("web", { labels: { name: "web" } }) },
      steps: [
        "create -f web.json",
        "get pod web -o jsonpath={.missing}",
        "get pod web -o go-template={{.missing}}",
        "get pod web --template={{.metadata.name}}:",
        "get pod web --allow-missing-template-keys=false -o jsonpath={.missing}",
        { run: "get pod web --allow-missing-template-keys=false -o go-template={{.missing}}", compare: "code" },
        "get pod web --subresource=status",
        "get pod web --subresource=status -o jsonpath={.status.phase}",
        "get pod web --subresource=scale",
        "get pod web --subresource=nonsense",
        "get pods -w --request-timeout=1",
        "get pods/web -o name -w --request-timeout=1",
        "get pods/web -o jsonpath='{.metadata.name} ' -w --request-timeout=1",
        "get pods/nowhere -w --request-timeout=1",
        "get pods,services -w --request-timeout=1",
        "get pod web -o kyaml",
        "get pod web -o jsonpath-as-json={.metadata.labels}",
        "get pod web -o jsonpath={.unclosed",
        "get pod web -o custom-columns=NAME",
        "get pod web -o custom-columns=A:.metadata.name,B:.spec.containers[*].image,C:.nothing",
        "get pods --no-headers",
        "get pods --show-kind",
        "get pods --show-labels",
        "get pods -L name,other",
        "get pods -l name=nobody",
        "get pods -l name!=nobody",
        "get pods --server-print=false",
        "get pods -o wide --server-print=false",
      ],
    },
    {
      title: "several at once",
      files: {
        "both.json": [pod("one"), pod("two")],
        "kustomization.yaml": "resources:\n- map.json\n",
        "map.json": configMap("kept", { a: "1" }),
      },
      steps: [
        "create -f both.json",
        "get -f both.json",
        "get -f both.json -o jsonpath={..metadata.name}",
        "get pods/one pods/two -o name",
        "get pods one two nowhere",
        "apply -k .",
        "get -k . -o jsonpath={.data}",
        "get pods/one configmaps/kept",
        "get po,cm",
        "delete pods one two",
      ],
    },
    {
      title: "answers may be compressed or not",
      files: { "large.txt": "0123456789abcdef".repeat(9000) },
      steps: [
        "create configmap large --from-file=large.txt",
        "get configmaps large",
        "get configmaps large --disable-compression=true",
        { run: "get configmaps large -o jsonpath={.data}", compare: "all", keep: "one" },
        "get configmap large -o jsonpath={.metadata.name} --disable-compression=true",
      ],
    },
    {
      title: "sorted",
      files: {
        "many.json": [
          sized("one", "c", "b-name", "200m", "2Gi"),
          sized("two", "b", "a-name", "1", "10Gi"),
          sized("three", "a", "c-name", "100m", "512Mi"),
        ],
      },
      steps: [
        "get pods --sort-by={metadata.name}",
        "create -f many.json",
        ...[
          "{metadata.name}",
          "{metadata.labels.name}",
          "{spec.containers[0].name}",
          "{.spec.containers[0].resources.requests.memory}",
          "{.spec.containers[0].resources.requests.cpu}",
          "{.spec.containers[0].resources.limits.memory}",
          "{.spec.containers[0].resources.limits.cpu}",
        ].map((by) => `get pods --sort-by=${by}`),
        "get pods --sort-by={.nothing}",
        "get pods --sort-by={spec.containers[0].name} --server-print=false",
        "get pods --sort-by={metadata.name} -o name",
        { run: "--v=6 get pods --sort-by={metadata.name}", compare: "requests" },
        "delete pods --grace-period=0 --force --all",
      ],
    },
    {
      title: "of all namespaces",
      steps: [
        "create serviceaccount spread",
        "label serviceaccount spread spread=yes",
        "create serviceaccount spread -n default",
        "label serviceaccount spread spread=yes -n default",
        "get serviceaccounts --all-namespaces -l spread=yes",
        "get serviceaccounts -A -l spread=yes -o name",
        "get nodes --all-namespaces -l spread=yes",
        "delete serviceaccount spread -n default",
      ],
    },
    {
      title: "a deprecated version warns",
      files: {
        "definition.json": definition("old.example.com", ["Old", "olds"], {
          version: { deprecated: true, deprecationWarning: "Old is old" },
        }),
      },
      steps: [
        "create -f definition.json",
        "wait --timeout=20s --for=condition=Established crd/olds.old.example.com",
        "get olds",
        "get olds.v1.old.example.com --warnings-as-errors",
        "delete crd olds.old.example.com",
      ],
    },
  ],
};

const broken = { apiVersion: "v1", metadata: { name: "broken" }, spec: {} };
const folder = (one: JsonObject, two: JsonObject) => ({
  "in/one.json": one,
  "in/deeper/two.json": two,
  "in/deeper/broken.json": broken,
});
const STEPS_OF_MULTI = [
  "create -f FILE",
  "get -f FILE",
  "get -f FILE -o jsonpath={..metadata.name}",
  "get -f FILE --watch",
  "describe -f FILE",
  "replace -f FILE --force --cascade=background",
  "label -f FILE labeled=true --overwrite",
  "annotate -f FILE annotated=true --overwrite",
  "get -f FILE -o custom-columns=NAME:.metadata.name,LABELS:.metadata.labels,ANNOTATIONS:.metadata.annotations",
  "delete -f FILE",
];

/** Files with several objects, folders, lists. */
export const genericResources: Area = {
  name: "generic-resources",
  cases: [
    {
      title: "documents, lists and folders are all a set of objects",
      files: {
        "documents.json": [service("mock"), controller("mock")],
        "list.json": { apiVersion: "v1", kind: "List", items: [service("mock"), controller("mock")] },
        "typed.json": { apiVersion: "v1", kind: "ServiceList", items: [service("mock"), service("mock2")] },
      },
      steps: ["documents.json", "list.json", "typed.json"].flatMap((file) =>
        STEPS_OF_MULTI.map((line) => line.replace("FILE", file)),
      ),
    },
    {
      title: "folders of pods with one document that is none",
      files: folder(pod("one", { labels: { app: "one" } }), pod("two", { labels: { app: "two" } })),
      steps: [
        "create -f in --recursive",
        "create -f in",
        "replace -f in --recursive",
        "describe -f in --recursive",
        "annotate -f in note=here --recursive",
        "apply -f in --recursive",
        "get -f in --recursive -o go-template='{{range.items}}{{.metadata.name}}:{{end}}'",
        "get -f in -R",
        "label -f in mine=yes --recursive",
        'patch -f in -p \'{"spec":{"containers":[{"name":"main","image":"example.com/main:2"}]}}\' --recursive',
        "get pods -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[0].image,LABELS:.metadata.labels",
        { run: "edit -f in --recursive", env: { EDITOR: "cat" } },
        "delete -f in --recursive --grace-period=0 --force",
        "get pods",
      ],
    },
    {
      title: "folders of controllers with one document that is none",
      files: folder(controller("one", 1), controller("two", 1)),
      steps: [
        "create -f in --recursive",
        "autoscale --min=1 --max=2 -f in --recursive",
        "expose -f in --recursive --port=80",
        "scale --current-replicas=1 --replicas=2 -f in --recursive",
        "get hpa,services,rc -o name",
        "rollout undo -f in --recursive --to-revision=1",
        "rollout pause -f in --recursive",
        "rollout resume -f in --recursive",
        "rollout restart -f in --recursive",
        "rollout history -f in --recursive",
        "rollout status -f in --recursive --timeout=1s",
        "delete -f in --recursive --grace-period=0 --force",
      ],
    },
    {
      title: "folders of Deployments with one document that is none",
      files: folder(workload("Deployment", "one"), workload("Deployment", "two")),
      steps: [
        "create -f in --recursive",
        "rollout undo -f in --recursive --to-revision=1",
        "rollout pause -f in --recursive",
        "get deployments -o jsonpath={.items[*].spec.paused}",
        "rollout resume -f in --recursive",
        "rollout history -f in --recursive",
        { run: "rollout status -f in -R --timeout=1s", compare: "lines" },
        "delete -f in --recursive --grace-period=0 --force",
      ],
    },
    {
      title: "an alias names many kinds",
      files: { "all.json": [controller("ring"), service("ring", { labels: { app: "ring" } })] },
      steps: [
        "create -f all.json",
        "get all -l app=ring",
        "get all -l app=ring -o name",
        "delete all -l app=ring",
        "get all -l app=ring",
      ],
    },
  ],
};

/** How long a request may take. */
export const requestTimeout: Area = {
  name: "request-timeout",
  cases: [
    {
      title: "seconds, durations and nonsense",
      files: { "web.json": pod("web") },
      steps: [
        "create -f web.json",
        "get pod web --request-timeout=1",
        "get pod web --request-timeout=1m",
        "get pod web --request-timeout=0",
        { run: "get pod web --request-timeout=1 --watch --v=5", compare: "code" },
        "get pod web --request-timeout=1p",
        "get pod web --request-timeout=-1s",
        "get pod web --request-timeout=1ns",
        "delete pods web",
      ],
    },
  ],
};
