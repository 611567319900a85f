import type { Area } from "../cases.ts";
import { configMap, pod } from "../manifests.ts";

const PERL = "--image=example.com/perl:5";

/** Who the server takes one for. */
export const whoami: Area = {
  name: "auth-whoami",
  cases: [
    {
      title: "whoami",
      steps: [
        "auth whoami",
        "auth whoami -o json",
        "auth whoami -o yaml --as=alice --as-group=dev",
        "auth whoami --token=alicetoken",
        "auth whoami --token=nonsense",
      ],
    },
  ],
};

/** Jobs and CronJobs. */
export const batch: Area = {
  name: "batch",
  cases: [
    {
      title: "a CronJob and a Job of it",
      steps: [
        `create cronjob pi --dry-run=client --schedule='59 23 31 2 *' ${PERL} -- perl -e 1`,
        `create cronjob pi --dry-run=server --schedule='59 23 31 2 *' ${PERL} -- perl -e 1`,
        "get cronjobs",
        `create cronjob pi --schedule='59 23 31 2 *' ${PERL} -- perl -e 1`,
        "get cronjob/pi",
        "get cronjob/pi -o wide",
        "describe cronjob/pi",
        "create job once --from=cronjob/pi --dry-run=client -o name",
        "create job once --from=cronjob/pi --dry-run=client",
        "create job once --from=cronjob/pi --dry-run=server",
        "create job once --from=cronjob/pi",
        "get job/once",
        "get job/once -o yaml",
        "describe job/once",
        "create job once --from=deployment/pi",
        "create job twice --from=cronjob/nowhere",
        `create cronjob bad --schedule='61 * * * *' ${PERL}`,
        `create cronjob bad --schedule='* * * * *' --restart=Always ${PERL}`,
        "delete job once",
        "delete cronjob pi",
      ],
    },
  ],
};

/** `kubectl create` and its refusals. */
export const create: Area = {
  name: "create",
  cases: [
    {
      title: "on trial, and only what is labelled",
      files: {
        "pod.json": pod("web"),
        "folder/taken.json": pod("taken", { labels: { choose: "me" } }),
        "folder/left.json": pod("left", { labels: { choose: "not-me" } }),
      },
      steps: [
        "create --dry-run=client -f pod.json",
        "create --dry-run=server -f pod.json",
        "get pods",
        "create -l choose=me -f folder",
        "get pods left",
        "create -f folder",
        "create --dry-run=wrong -f pod.json",
      ],
    },
    {
      title: "what cannot be created says why",
      files: {
        "pod.json": pod("web"),
        "map.json": configMap("raw", { a: "1" }),
        "no-kind.json": { apiVersion: "v1", metadata: { name: "x" } },
      },
      steps: [
        { run: "create", compare: "code" },
        "create --raw /api/v1/namespaces -f pod.json",
        "create --raw /api/v1/namespaces -f pod.json --edit",
        "create --raw /api/v1/namespaces/%{namespace}/configmaps -f map.json",
        "create --raw /api/v1/namespaces/%{namespace}/configmaps -f map.json",
        "create -f no-kind.json",
        "create -f nowhere.json",
        { run: "create -f -", input: "" },
        { run: "create -f -", input: "{" },
        { run: "create -f -", input: "a: b: c" },
        { run: "create -f -", input: { apiVersion: "v1", kind: "Pod", metadata: {} } },
        { run: "create -f -", input: { apiVersion: "v1", kind: "Nothing", metadata: { name: "x" } } },
        { run: "create -f -", input: pod("web", { namespace: "nowhere" }) },
        "create job web --image=example.com/web:1",
        "get job web -o jsonpath={.spec.template.spec.containers[0].image}",
        "create job sums --image=example.com/perl:5 -- perl -e 1",
        "get job sums -o jsonpath={.spec.template.spec.containers[0].command}",
        "create cronjob every --schedule='* */5 * * *' --image=example.com/perl:5 -- perl -e 10",
        "create job now --from=cronjob/every",
        "get job now -o go-template='{{(index .spec.template.spec.containers 0).command}}'",
      ],
    },
    {
      title: "fields that a kind does not have, or that stand twice",
      files: {
        "odd.yaml":
          "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: odd\nspec:\n  unheardOf: 1\n  replicas: 2\n  replicas: 3\n  selector:\n    matchLabels:\n      app: odd\n  template:\n    metadata:\n      labels:\n        app: odd\n    spec:\n      containers:\n      - name: main\n        image: example.com/main:1\n        image: example.com/main:2\n        nonsense: true\n",
      },
      steps: [
        "create -f odd.yaml --validate",
        "create -f odd.yaml --validate=true",
        "create -f odd.yaml --validate=false",
        "delete deployment odd",
        "create -f odd.yaml --validate=strict",
        "create -f odd.yaml --validate=warn",
        "delete deployment odd",
        "create -f odd.yaml --validate=ignore",
        "get deployment odd -o jsonpath={.spec.replicas}",
        "delete deployment odd",
        "create -f odd.yaml",
        "create -f odd.yaml --validate=nonsense",
        "create -f odd.yaml --validate=warn --warnings-as-errors",
        "create -f odd.yaml --dry-run=server --validate=warn",
      ],
    },
    {
      title: "generated names",
      steps: [
        {
          run: "create -f - -o jsonpath={.metadata.generateName}",
          input: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } },
        },
        { run: "apply -f -", input: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } } },
      ],
    },
  ],
};

/** `kubectl run`. */
export const run: Area = {
  name: "run",
  cases: [
    {
      title: "a pod by its image",
      steps: [
        "run web --dry-run=client --image=example.com/web:1",
        "run web --dry-run=server --image=example.com/web:1",
        "run web --image=example.com/web:1 --labels=app=web,tier=front --env=A=1 --env=B=two --port=80",
        "get pod web -o yaml",
        "run web --image=example.com/web:1",
        "run short --image=validname",
        "run bad --image=InvalidImageName",
        "run Bad --image=validname",
        "run command --image=example.com/web:1 --command -- sleep 1",
        "run arguments --image=example.com/web:1 --restart=Never -- one two",
        "get pods command arguments -o jsonpath={.items[*].spec.containers[0].args}{.items[*].spec.containers[0].command}",
        'run overridden --image=example.com/web:1 --overrides=\'{"spec":{"nodeSelector":{"disk":"fast"}}}\'',
        "get pod overridden -o jsonpath={.spec.nodeSelector}",
        "run exposed --image=example.com/web:1 --port=80 --expose",
        "run exposed --image=example.com/web:1 --expose",
        "get pods,services -o name",
        "delete pods short command",
      ],
    },
  ],
};

/** Whether standard output, standard error and exit code are what they should be. */
export const results: Area = {
  name: "results",
  cases: [
    {
      title: "errors go to standard error",
      steps: [
        "list",
        "get pod/no-such-pod",
        "get pods",
        "get pods --nonsense",
        "get",
        "get pods a b -o name --ignore-not-found",
      ],
    },
  ],
};

/** Versions of kubectl and of the server. */
export const version: Area = {
  name: "version",
  cases: [
    {
      title: "of the client and of the server",
      steps: [
        "version --client",
        { run: "version --client -o json", compare: "code" },
        "version -o jsonpath={.serverVersion.major}.{.serverVersion.minor}",
        "version -o go-template='{{.serverVersion.gitVersion}} {{.serverVersion.emulationMajor}} {{.serverVersion.minCompatibilityMinor}}'",
        "version -o nonsense",
        "version extra",
        { run: "version --output=yaml", compare: "code" },
        { run: "get --raw /version", compare: "code" },
      ],
    },
  ],
};
