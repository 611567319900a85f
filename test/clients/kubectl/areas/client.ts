import type { Area } from "../cases.ts";
import { configMap, controller, pod, workload } from "../manifests.ts";

const LANGUAGES = ["de_DE", "en_US", "fr_FR", "it_IT", "ja_JP", "ko_KR", "pt_BR", "zh_CN", "zh_TW"];

/** Help in many languages, which no server is asked for: only that it is there. */
export const help: Area = {
  name: "help",
  cases: [
    {
      title: "of commands and in languages",
      steps: [
        ...LANGUAGES.map((language) => ({ run: "help", env: { LANG: `${language}.UTF-8` }, compare: "code" as const })),
        ...["apply", "auth", "config", "create secret", "rollout", "set", "uncordon"].map((command) => ({
          run: `${command} --help`,
          compare: "code" as const,
        })),
        { run: "options", compare: "code" },
        { run: "help nonsense", compare: "code" },
        { run: "__complete get configmaps ''" },
        "create configmap completed",
        { run: "__complete get configmaps c" },
        { run: "__complete get po" },
        { run: "__complete config use-context ''" },
        { run: "completion bash", compare: "code" },
      ],
    },
  ],
};

const VIEW = "config view --raw -o jsonpath=";

/** Kubeconfigs. */
export const kubeconfig: Area = {
  name: "kubeconfig",
  cases: [
    {
      title: "clusters, users and contexts are set",
      files: { "ca.crt": "an authority", "client.crt": "a certificate", "client.key": "a key" },
      steps: [
        "config set-cluster test --server=https://does-not-work",
        "config set clusters.test.certificate-authority-data cmF3 --set-raw-bytes",
        `${VIEW}'{.clusters[?(@.name=="test")].cluster.certificate-authority-data}'`,
        "config set clusters.test.certificate-authority-data ZW5jb2RlZA==",
        `${VIEW}'{.clusters[?(@.name=="test")].cluster.certificate-authority-data}'`,
        "config set-cluster test-1 --certificate-authority=ca.crt",
        `${VIEW}'{.clusters[?(@.name=="test-1")].cluster.certificate-authority}'`,
        "config set-cluster test-2 --embed-certs --certificate-authority=ca.crt",
        `${VIEW}'{.clusters[?(@.name=="test-2")].cluster.certificate-authority-data}'`,
        "config set-credentials user1 --client-certificate=client.crt --client-key=client.key",
        `${VIEW}'{.users[?(@.name=="user1")].user}'`,
        "config set-credentials user2 --client-certificate=client.crt --client-key=client.key --embed-certs=true",
        `${VIEW}'{.users[?(@.name=="user2")].user}'`,
        "config set-context other --cluster=test --user=user1 --namespace=there",
        "config get-contexts",
        "config get-contexts other -o name",
        { run: "config get-clusters", compare: "lines" },
        "config get-users",
        "config use-context other",
        "config current-context",
        "config rename-context other another",
        "config view --minify -o jsonpath={.contexts[*].name}",
        "config use-context main",
        "config unset contexts.another",
        "config delete-cluster test",
        "config delete-user user1",
        "config delete-context nowhere",
        "config set-context --current --namespace=default",
        "config view -o jsonpath={.contexts[0].context.namespace}",
        "config view",
      ],
    },
    {
      title: "configurations that are missing or wrong",
      files: {
        "wrong.yaml": "apiVersion: v-1\nkind: Config\n",
        "as.yaml":
          "apiVersion: v1\nkind: Config\ncurrent-context: as-bob\nclusters:\n- name: main\n  cluster:\n    server: %{server}\n    insecure-skip-tls-verify: true\nusers:\n- name: as-bob\n  user:\n    token: %{token}\n    as: bob\n    as-uid: abc123\n    as-groups: [one, two]\n    as-user-extra:\n      reason: [test]\n- name: uid-only\n  user:\n    token: %{token}\n    as-uid: abc123\ncontexts:\n- name: as-bob\n  context: {cluster: main, user: as-bob}\n",
      },
      steps: [
        ...["--context=", "--user=", "--cluster="].map((flag) => `get pod ${flag} --kubeconfig=missing`),
        "get pod --context=missing-context",
        "get pod --cluster=missing-cluster",
        "get pod --user=missing-user",
        "get pods --kubeconfig=wrong.yaml",
        "auth whoami --kubeconfig=as.yaml",
        "get pods --kubeconfig=as.yaml --user=uid-only",
        "get pods --kubeconfig=as.yaml",
        { run: "get pods", env: { KUBECONFIG: "as.yaml:kubeconfig" } },
        "get pods --server=%{server}/nowhere --insecure-skip-tls-verify",
        "get pods --insecure-skip-tls-verify=false",
      ],
    },
  ],
};

const RC = "--kuberc=rc.yaml";

/** Preferences of the user: defaults and aliases. */
export const kuberc: Area = {
  name: "kuberc",
  cases: [
    {
      title: "defaults and aliases are set and used",
      files: {
        "rc.yaml": "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n",
        "empty.yaml": "",
        "several.yaml":
          "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\nunheardOf: true\naliases: []\n---\napiVersion: kubectl.config.k8s.io/nonsense\nkind: Preference\n",
        "pod.json": pod("web"),
      },
      steps: [
        `kuberc set ${RC} --section=defaults --command=apply --option=server-side=true --option=dry-run=server`,
        `kuberc set ${RC} --section=defaults --command=delete --option=interactive=true`,
        `kuberc set ${RC} --section=defaults --command=get --option=output=name`,
        `kuberc set ${RC} --section=aliases --name=getc --command=get --prependarg=configmaps --option=output=wide`,
        `kuberc set ${RC} --section=aliases --name=crc --command='create configmap' --appendarg=aliased`,
        `kuberc set ${RC} --section=aliases --name=runx --command=run --option=image=example.com/web:1 --option=labels=app=test,env=test --appendarg=aliased`,
        `kuberc view ${RC}`,
        `kuberc view ${RC} -o json`,
        `kuberc set ${RC} --section=defaults --command=get --option=output=yaml`,
        `kuberc set ${RC} --section=aliases --name=getc --command=get --prependarg=pods`,
        `kuberc set ${RC} --command=get --option=output=wide`,
        `kuberc set ${RC} --section=defaults --option=output=wide`,
        { run: "kuberc view", env: { KUBERC: "off" } },
        `kuberc set ${RC} --section=credentialplugin`,
        `kuberc set ${RC} --section=credentialplugin --policy=Allowlist`,
        `kuberc set ${RC} --section=credentialplugin --policy=Nonsense`,
        `crc ${RC}`,
        `getc ${RC}`,
        `getc ${RC} aliased --output=name`,
        `runx ${RC}`,
        `get pods ${RC}`,
        `get pod aliased -o jsonpath={.metadata.labels} ${RC}`,
        `apply -f pod.json ${RC}`,
        { run: `delete pod aliased ${RC}`, input: "n\n" },
        { run: `delete pod aliased ${RC}`, input: "y\n" },
        { run: `getc ${RC}`, env: { KUBECTL_KUBERC: "false" } },
        { run: `getc ${RC}`, env: { KUBERC: "off" } },
        { run: "getc", env: { KUBERC: "off" } },
        "get configmap aliased --kuberc=several.yaml",
        "get configmap aliased --kuberc=empty.yaml",
        "get configmap aliased --kuberc=nowhere.yaml",
      ],
    },
  ],
};

const says = (text: string) => `#!/bin/sh\necho "${text}"\n`;
const withPath = (...folders: string[]) => ({
  PATH: [...folders.map((folder) => `%{directory}/${folder}`), "/usr/bin", "/bin"].join(":"),
});

/** Programs whose name begins with `kubectl-`. */
export const plugins: Area = {
  name: "plugins",
  cases: [
    {
      title: "are listed, run and overshadowed",
      files: {
        "one/kubectl-foo": says("I am foo"),
        "two/kubectl-foo": says("I am the other foo"),
        "args/kubectl-bar": '#!/bin/sh\necho "bar $@"\n',
        "version/kubectl-version": says("never run"),
        "create/kubectl-create-foo": says("I create foo"),
        "create/kubectl-create-cronjob": says("never run"),
        "env/kubectl-baz": '#!/bin/sh\ntest -x "$KUBECTL_PATH" && echo "baz knows kubectl, colour $COLOUR"\n',
        "none/readme": "nothing",
      },
      steps: [
        { run: "plugin list", env: { PATH: "%{directory}/version" } },
        { run: "plugin list", env: { PATH: "%{directory}/one:%{directory}/two" } },
        { run: "plugin list", env: { PATH: "%{directory}/one" } },
        { run: "plugin list --name-only", env: { PATH: "%{directory}/one" } },
        { run: "plugin list", env: { PATH: "%{directory}/none" } },
        { run: "foo", env: withPath("one", "two") },
        { run: "bar arg1 --flag", env: withPath("args") },
        { run: "version --client -o jsonpath={.clientVersion.gitVersion}", env: withPath("version") },
        { run: "create foo", env: withPath("create") },
        { run: "create cronjob", env: withPath("create") },
        { run: "baz", env: withPath("env") },
        { run: "baz", env: { ...withPath("env"), COLOUR: "blue" } },
        { run: "nowhere", env: withPath("env") },
      ],
    },
  ],
};

/** `kubectl proxy`. */
export const proxy: Area = {
  name: "proxy",
  cases: [
    {
      title: "passes on, refuses and serves files",
      files: { "www/index.txt": "static content\n" },
      steps: [
        "create configmap proxied --from-literal=a=1",
        {
          proxy: "--port=0 --www=www",
          paths: [
            "/static/index.txt",
            "/static/nowhere.txt",
            "/healthz",
            "/readyz/ping",
            "/api/v1/namespaces/%{namespace}/configmaps/proxied",
          ],
        },
        { proxy: "--port=0 --api-prefix=/custom/", paths: ["/custom/healthz", "/healthz", "/custom/api"] },
        { proxy: "--port=0 --reject-paths=^/api/.* --accept-paths=.*", paths: ["/healthz", "/api/v1/namespaces"] },
        {
          proxy: "--port=0",
          paths: [
            "/api/v1/namespaces/%{namespace}/pods/nowhere/exec",
            "/api/v1/namespaces/%{namespace}/pods/nowhere/log",
            "/api/v1/namespaces/%{namespace}/services/nowhere/proxy/",
          ],
        },
      ],
    },
  ],
};

/** Versions of a kind that the server converts. The plugin `kubectl convert` converts by itself and is not part of kubectl. */
export const convert: Area = {
  name: "convert",
  cases: [
    {
      title: "an object is read in another version than it was written in",
      files: {
        "scaler.json": {
          apiVersion: "autoscaling/v1",
          kind: "HorizontalPodAutoscaler",
          metadata: { name: "scaler" },
          spec: {
            scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
            minReplicas: 1,
            maxReplicas: 3,
            targetCPUUtilizationPercentage: 70,
          },
        },
        "old.json": { ...workload("Deployment", "web"), apiVersion: "apps/v1beta1" },
        "event.json": {
          apiVersion: "events.k8s.io/v1",
          kind: "Event",
          metadata: { name: "seen" },
          eventTime: "2026-01-01T00:00:00.000000Z",
          reportingController: "test",
          reportingInstance: "one",
          action: "Look",
          reason: "Seen",
          regarding: { kind: "Pod", namespace: "%{namespace}", name: "web" },
          type: "Normal",
          note: "it was seen",
        },
      },
      steps: [
        "create -f scaler.json",
        "get hpa.v1.autoscaling scaler -o yaml",
        "get hpa.v2.autoscaling scaler -o yaml",
        'patch hpa.v2.autoscaling scaler --type=merge -p \'{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":60}}}}\'',
        "get hpa.v1.autoscaling scaler -o yaml",
        "apply -f scaler.json",
        "create -f old.json",
        "get deployments.v1beta1.apps",
        "get deployments.v1.apps",
        "create -f event.json",
        "get events.v1. seen -o yaml",
        "get events.v1.events.k8s.io seen -o yaml",
        "delete hpa scaler",
      ],
    },
  ],
};

/** What the driver of the scripts does itself: kinds by every name and in several forms, one after the other. */
export const legacyScript: Area = {
  name: "legacy-script",
  cases: [
    {
      title: "kinds by short, singular, plural and full name",
      files: { "all.json": [pod("web"), controller("ring"), workload("Deployment", "deploy"), configMap("map", {})] },
      steps: [
        "create -f all.json",
        ...["po", "pod", "pods", "Pod", "pods.v1.", "pod/web"].map((name) => `get ${name} -o name`),
        ...["rc", "replicationcontroller", "ReplicationController"].map((name) => `get ${name} -o name`),
        ...["deploy", "deployment", "deployments.apps", "deployment.v1.apps", "Deployment"].map(
          (name) => `get ${name} -o name`,
        ),
        "get cm,po,rc,deploy -o name",
        "get all -o name",
        "describe cm/map",
        "describe po web --show-events=false",
        "describe nonsense x",
        "describe pod nowhere",
        "describe pod w",
        "delete cm,po,rc,deploy --all",
      ],
    },
  ],
};
