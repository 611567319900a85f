import type { JsonObject } from "../../../../src/base/api/object.ts";
import type { Area } from "../cases.ts";
import { configMap, controller, node, pod, service, workload } from "../manifests.ts";

/** `kubectl delete` in all namespaces, and when it asks first. */
export const deletion: Area = {
  name: "delete",
  cases: [
    {
      title: "by label in all namespaces",
      steps: [
        "create configmap one",
        "create configmap two -n default",
        "label configmap one gone=soon",
        "label configmap two gone=soon -n default",
        "delete configmap --dry-run=client -l gone=soon --all-namespaces",
        "delete configmap --dry-run=server -l gone=soon --all-namespaces",
        "get configmap -l gone=soon -A -o name",
        "delete configmap -l gone=soon --all-namespaces",
        "get configmap -l gone=soon -A",
      ],
    },
    {
      title: "asked first",
      steps: [
        "create configmap one",
        "create configmap two",
        { run: "delete configmap --dry-run=server --interactive one two", input: "n\n" },
        { run: "delete configmap --dry-run=server --interactive one two", input: "y\n" },
        { run: "delete configmap --interactive one two", input: "n\n" },
        { run: "delete configmap --interactive one two", input: "maybe\n" },
        "get configmaps one two",
        { run: "delete configmap -i one two --wait", input: "y\n" },
        "get configmaps one two",
        "create configmap three",
        { run: "delete configmaps three --force --interactive", input: "y\n" },
      ],
    },
    {
      title: "selectors, fields, finalizers and preconditions",
      files: {
        "kept.json": { ...configMap("kept", {}), metadata: { name: "kept", finalizers: ["example.com/hold"] } },
      },
      steps: [
        "create -f kept.json",
        "delete configmap kept --wait=false",
        "get configmap kept -o jsonpath={.metadata.deletionGracePeriodSeconds}{.metadata.finalizers}",
        "delete configmap kept --timeout=1s",
        {
          run: "delete configmap kept --timeout=40s",
          ready: "deleted",
          meanwhile: ['patch configmap kept --type=merge -p \'{"metadata":{"finalizers":null}}\''],
        },
        "get configmap kept",
        "create configmap field",
        "delete configmaps --field-selector=metadata.name=field",
        "delete configmap field -o name",
        "create configmap field",
        "delete configmap field -o name",
        "delete configmap --all --cascade=nonsense",
        "delete nonsense x",
        "delete",
        "delete -f nowhere.json",
        "delete configmap/a configmap/b",
      ],
    },
  ],
};

/** `kubectl diff`. */
export const diff: Area = {
  name: "diff",
  cases: [
    {
      title: "by kubectl and by the server",
      files: {
        "pod.json": pod("web", { labels: { name: "web" } }),
        "changed.json": pod("web", { labels: { name: "web" }, image: "example.com/main:2" }),
        "invalid.json": {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name: "invalid" },
          spec: { containers: [{ name: "x" }] },
        },
      },
      steps: [
        "diff -f pod.json",
        "apply -f pod.json",
        "diff -f pod.json",
        "diff -f changed.json",
        "diff -f changed.json --server-side",
        "diff -f changed.json --server-side --force-conflicts",
        "diff -f invalid.json",
        "get pod web -o jsonpath={.spec.containers[0].image}",
        "delete -f pod.json",
        "diff --server-side -f pod.json",
        "apply --server-side -f pod.json",
        "diff --server-side -f pod.json",
        "diff --server-side -f changed.json",
        "diff -f changed.json --concurrency=4 --show-managed-fields=false",
        "diff -f nowhere.json",
        "diff",
      ],
    },
    {
      title: "what would be pruned",
      files: {
        "a.json": configMap("a", { k: "1" }, { labels: { set: "pruned" } }),
        "b.json": configMap("b", { k: "2" }, { labels: { set: "pruned" } }),
      },
      steps: [
        "apply -l set=pruned -f a.json",
        "diff -l set=pruned -f b.json",
        "diff --prune -l set=pruned -f b.json --prune-allowlist=core/v1/ConfigMap",
        "apply --prune -l set=pruned -f b.json --prune-allowlist=core/v1/ConfigMap",
        "diff --prune -l set=pruned -f b.json --prune-allowlist=core/v1/ConfigMap",
      ],
    },
    {
      title: "objects of one name have files of their own",
      files: {
        "all/pod.json": pod("same"),
        "all/map.json": configMap("same", { a: "1" }),
        "all/deployment.json": workload("Deployment", "same"),
        "all/secret.json": {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "same" },
          stringData: { a: "hidden" },
        },
      },
      steps: [
        { run: "diff -R -f all", env: { KUBECTL_EXTERNAL_DIFF: "ls" }, compare: "lines" },
        "diff -f all/secret.json",
        "apply -f all/secret.json",
        {
          run: "diff -f -",
          input: { apiVersion: "v1", kind: "Secret", metadata: { name: "same" }, stringData: { a: "other" } },
        },
      ],
    },
  ],
};

const changed = (name: string) =>
  `get ${name} -o jsonpath={.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}`;

/** Commands that remember the manifest for a later apply. */
export const saveConfig: Area = {
  name: "save-config",
  cases: [
    {
      title: "create, edit, replace, run, expose and autoscale",
      files: {
        "pod.json": pod("web", { labels: { name: "web" } }),
        "front.json": controller("front"),
        "editor.sh": "#!/bin/sh\nexec sed -i 's/name: web/name: edited/' \"$1\"\n",
        "labels.sh": "#!/bin/sh\nexec sed -i '/^  labels:/a\\    by: editor' \"$1\"\n",
      },
      steps: [
        "create -f pod.json --save-config",
        changed("pod web"),
        "delete -f pod.json",
        "create -f pod.json",
        changed("pod web"),
        { run: "edit pod web --save-config", env: { EDITOR: "%{directory}/labels.sh" } },
        "get pod web -o yaml",
        "delete -f pod.json",
        "create -f pod.json",
        "replace -f pod.json --save-config",
        changed("pod web"),
        "run saved --image=example.com/web:1 --save-config",
        changed("pod saved"),
        "expose pod saved --save-config --port=80 --target-port=8000",
        changed("service saved"),
        "create -f front.json",
        changed("rc front"),
        "autoscale -f front.json --save-config --max=2",
        changed("hpa front"),
        ...["hpa", "hpa.autoscaling", "hpa.autoscal"].map((name) => `get ${name} -o jsonpath={.items[0].apiVersion}`),
        "create configmap saved --save-config --from-literal=a=1",
        changed("configmap saved"),
        "scale rc front --replicas=1",
        "delete hpa,rc front",
      ],
    },
  ],
};

const NAME = "{{.metadata.name}}:";
const TRIAL = `--dry-run=client --template='${NAME}'`;

/** `--template` on every command that prints an object. */
export const templateOutput: Area = {
  name: "template-output",
  cases: [
    {
      title: "every command",
      files: {
        "web.json": pod("web"),
        "deployment.json": workload("Deployment", "scaled"),
        "set.json": workload("ReplicaSet", "set"),
        "service.json": service("chosen"),
        "rc.json": controller("ring"),
        "roles.json": [
          {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "Role",
            metadata: { name: "r", namespace: "%{namespace}" },
            rules: [],
          },
          {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "RoleBinding",
            metadata: { name: "rb", namespace: "%{namespace}" },
            subjects: [],
            roleRef: { kind: "Role", name: "r", apiGroup: "rbac.authorization.k8s.io" },
          },
        ],
      },
      steps: [
        "create -f web.json",
        `patch ${TRIAL} pods/web -p '{"metadata":{"labels":{"a":"b"}}}' --type=merge`,
        `label ${TRIAL} pods/web a=b`,
        `annotate ${TRIAL} pods/web a=b`,
        `apply ${TRIAL} -f web.json`,
        `create ${TRIAL} -f web.json`,
        `autoscale ${TRIAL} --max=2 -f deployment.json`,
        `expose ${TRIAL} -f set.json --save-config --port=80 --target-port=8000`,
        `run ${TRIAL} pi --image=example.com/perl:5 --restart=OnFailure -- perl -e 1`,
        { run: "create -f -", input: node("kubectl-template") },
        `taint node kubectl-template dedicated=foo:PreferNoSchedule --template='${NAME}'`,
        "delete node kubectl-template",
        "create -f rc.json",
        `apply set-last-applied ${TRIAL} -f rc.json --create-annotation`,
        `auth reconcile ${TRIAL} -f roles.json`,
        `create clusterrole ${TRIAL} kubectl-mine --verb=get --non-resource-url=/logs/ --resource=pods`,
        `create clusterrolebinding ${TRIAL} kubectl-mine --clusterrole=admin`,
        `create configmap ${TRIAL} cm`,
        `create deployment deploy --image=example.com/web:1 --template='${NAME}'`,
        "create cronjob pi --schedule='* * * * *' --image=example.com/perl:5",
        `create job ${TRIAL} foo --from=cronjob/pi`,
        `create ns ${TRIAL} bar`,
        `create rolebinding ${TRIAL} foo --clusterrole=admin`,
        `create role ${TRIAL} foo --verb=get --resource=pods`,
        `create quota ${TRIAL} foo`,
        `create priorityclass ${TRIAL} foo`,
        `create poddisruptionbudget ${TRIAL} foo --selector=foo --min-available=1`,
        `create serviceaccount ${TRIAL} foo`,
        `set env pod/web ${TRIAL} A=B`,
        `set image pod/web ${TRIAL} main=example.com/web:2`,
        `set resources pod/web ${TRIAL} --limits=memory=256Mi`,
        `set selector -f service.json A=B --local ${TRIAL}`,
        `set serviceaccount deployment/deploy deployer ${TRIAL}`,
        `set subject rolebinding/nowhere --user=foo ${TRIAL}`,
        `create secret docker-registry foo --docker-username=u --docker-password=p ${TRIAL}`,
        `create secret generic foo --from-literal=a=b ${TRIAL}`,
        `create service clusterip foo --tcp=8080 ${TRIAL}`,
        `create service externalname foo --external-name=bar ${TRIAL}`,
        `create service loadbalancer foo --tcp=8080 ${TRIAL}`,
        `create service nodeport foo --tcp=8080 ${TRIAL}`,
        `create ingress foo --rule=example.com/=foo:80 ${TRIAL}`,
        `rollout pause deploy/deploy --template='${NAME}'`,
        `rollout history deploy/deploy --template='${NAME}'`,
        `rollout resume deploy/deploy --template='${NAME}'`,
        `scale deploy/deploy --replicas=2 --template='${NAME}'`,
        "config view --template='{{.kind}}:'",
        `create configmap cm ${TRIAL} --output=yaml`,
      ],
    },
  ],
};

const local: JsonObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "kubectl-fast" },
  provisioner: "example.com/fast",
  parameters: { type: "ssd" },
};
const volume = (name: string, source: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, labels: { type: "local" } },
  spec: { capacity: { storage: "10Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "", ...source },
});
const claim = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "3Gi" } }, ...spec },
});

/** Volumes, claims and classes. */
export const storage: Area = {
  name: "storage",
  cases: [
    {
      title: "volumes, claims and classes",
      files: {
        "volume.json": volume("kubectl-one", { hostPath: { path: "/tmp/data01" } }),
        "nfs.json": volume("kubectl-two", {
          nfs: { server: "nfs.example.com", path: "/" },
          accessModes: ["ReadOnlyMany", "ReadWriteMany"],
        }),
        "csi.json": volume("kubectl-three", {
          csi: { driver: "csi.example.com", volumeHandle: "one" },
          persistentVolumeReclaimPolicy: "Delete",
        }),
        "claim.json": claim("mine", { storageClassName: "kubectl-fast" }),
        "bound.json": claim("bound", {
          volumeName: "kubectl-one",
          storageClassName: "",
          accessModes: ["ReadOnlyMany", "ReadWriteMany"],
        }),
        "class.json": local,
      },
      steps: [
        "create -f volume.json",
        "create -f nfs.json -f csi.json",
        "get pv kubectl-one kubectl-two kubectl-three",
        "get pv kubectl-one kubectl-two kubectl-three -o wide",
        "describe pv kubectl-two kubectl-three",
        "delete pv kubectl-two kubectl-three -n default --wait=false",
        "create -f class.json",
        "get storageclass kubectl-fast",
        "get sc kubectl-fast -o wide",
        "describe sc kubectl-fast",
        "create -f claim.json -f bound.json",
        "get pvc",
        "get pvc -o wide",
        "describe pvc mine",
        'patch pvc mine -p \'{"spec":{"resources":{"requests":{"storage":"5Gi"}}}}\'',
        'patch pvc mine -p \'{"spec":{"storageClassName":"other"}}\'',
        'patch sc kubectl-fast -p \'{"provisioner":"other"}\'',
        'patch pv kubectl-one -p \'{"spec":{"capacity":{"storage":"20Gi"}}}\'',
        "delete pvc mine bound --wait=false",
        "get pvc",
        "delete pv kubectl-one --wait=false",
        "get pv kubectl-one",
        "delete storageclass kubectl-fast",
      ],
    },
  ],
};
