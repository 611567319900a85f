import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { makeCertificate, makeKeys, makeRequest, printPem } from "../../src/base/pki/certificates.suite.ts";
import { readSamples } from "../support/samples.ts";
import { needs } from "../support/tools.ts";
import { KubectlTwins } from "./kubectl-twins.ts";

const labels = { app: "main" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example/main:1" }] } };

const statefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db" },
  spec: { serviceName: "db", selector: { matchLabels: labels }, template },
};
const daemonSet = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: { selector: { matchLabels: labels }, template },
};
const node = (name: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, labels: { "kubernetes.io/hostname": name } },
  spec: { podCIDR: "10.1.0.0/24" },
});
const podOn = (nodeName: string, name: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name } },
  spec: { nodeName, containers: [{ name: "main", image: "example/main:1" }] },
});
const running = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
const event = (name: string, type: string) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name },
  type,
  reason: name,
  message: `it ${name}`,
  count: 2,
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
  source: { component: "test" },
  involvedObject: { apiVersion: "v1", kind: "Pod", name: "one", namespace: "pods" },
});
const replicaSet = (revision: number, uid: string) => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: {
    name: `web-${revision}`,
    labels: { app: "web" },
    annotations: {
      "deployment.kubernetes.io/revision": String(revision),
      "kubernetes.io/change-cause": `v${revision}`,
    },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true }],
  },
  spec: {
    selector: { matchLabels: { app: "web", "pod-template-hash": String(revision) } },
    template: {
      metadata: { labels: { app: "web", "pod-template-hash": String(revision) } },
      spec: { containers: [{ name: "main", image: `example/main:${revision}` }] },
    },
  },
});
const controllerRevision = (revision: number, uid: string) => ({
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  metadata: {
    name: `agent-${revision}`,
    labels,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid, controller: true }],
  },
  revision,
  data: {
    spec: {
      template: { ...template, $patch: "replace", spec: { containers: [{ name: "main", image: `i:${revision}` }] } },
    },
  },
});

/**
 * What kubectl does besides reading and applying files. Both servers run without controllers: nothing makes pods of a
 * Deployment, so that rollouts are given the objects that a controller would have made.
 */
describe("kubectl does the same with Binnacle as with the real server", {
  concurrency: 2,
  ...needs("kubectl", "kube-apiserver", "etcd"),
}, () => {
  let twins: KubectlTwins;

  before(async () => {
    twins = await KubectlTwins.start();
  });
  after(() => twins?.stop());

  /** A namespace of its own, with the account that pods run as, and a way to run lines in it that must succeed. */
  async function inNamespace(name: string) {
    const run = (line: string, input?: unknown) =>
      twins.same(
        ["-n", name, ...line.split(" ").map((word) => word.replaceAll("_", " "))],
        input === undefined ? [] : [JSON.stringify(input), JSON.stringify(input)],
      );
    async function succeed(line: string, input?: unknown): Promise<string> {
      const { code, stdout, stderr } = await run(line, input);
      assert.equal(code, 0, `kubectl ${line}\n${stdout}${stderr}`);
      return stdout;
    }
    async function fail(line: string, input?: unknown): Promise<string> {
      const { code, stderr } = await run(line, input);
      assert.notEqual(code, 0, `kubectl ${line}`);
      return stderr;
    }
    await succeed(`create namespace ${name}`);
    await succeed("create serviceaccount default");
    return { succeed, fail };
  }

  test("create of every kind it knows", async () => {
    const { succeed, fail } = await inNamespace("creates");
    const certificate = path.join(twins.directory, "tls.crt");
    const key = path.join(twins.directory, "tls.key");
    const { pem, keyPem } = makeCertificate();
    await writeFile(certificate, pem);
    await writeFile(key, keyPem);
    for (const line of [
      "configmap one --from-literal=a=1 --from-literal=b=2",
      "secret generic one --from-literal=a=1",
      `secret tls two --cert=${certificate} --key=${key}`,
      "secret docker-registry three --docker-server=example.com --docker-username=u --docker-password=p",
      "serviceaccount one",
      "service clusterip one --tcp=80:8080",
      "service clusterip headless --clusterip=None",
      "service nodeport two --tcp=80",
      "service loadbalancer three --tcp=80",
      "service externalname four --external-name=example.com",
      "deployment one --image=example/main:1 --replicas=2 --port=80",
      "job one --image=example/main:1 -- sleep 10",
      "cronjob one --image=example/main:1 --schedule=*/5_*_*_*_*",
      "job two --from=cronjob/one",
      "ingress one --class=default --rule=example.com/path*=one:80,tls=two",
      "ingress two --default-backend=one:80",
      "poddisruptionbudget one --selector=app=one --min-available=1",
      "poddisruptionbudget two --selector=app=one --max-unavailable=50%",
      "priorityclass creates-one --value=1000 --description=first --preemption-policy=Never",
      "quota one --hard=cpu=1,memory=1Gi,pods=20,services=10",
      "quota two --hard=pods=30 --scopes=BestEffort",
      "role one --verb=get,list --resource=pods,deployments.apps/scale",
      "rolebinding one --role=one --user=somebody --group=some",
      "rolebinding two --clusterrole=view --serviceaccount=creates:one",
      "clusterrole creates-one --verb=get --resource=nodes --resource-name=n",
      "clusterrole creates-two --verb=get --non-resource-url=/logs/*",
      "clusterrole creates-three --aggregation-rule=app=one",
      "clusterrolebinding creates-one --clusterrole=creates-one --user=somebody",
    ]) {
      await succeed(`create ${line}`);
    }
    for (const line of [
      "configmap one",
      "namespace creates",
      "service nodeport five --tcp=80 --node-port=100",
      "deployment One --image=i",
      "quota three --hard=cpu=abc",
      "rolebinding three --role=one --user=",
      "priorityclass system-own --value=1",
      "cronjob bad --image=i --schedule=never",
    ]) {
      await fail(`create ${line}`);
    }
    await succeed("get cm,secret,sa,svc,deploy,job,cronjob,ingress,pdb,quota,role,rolebinding -o wide");
    await succeed("get cm,secret,sa,svc,deploy,job,cronjob,ingress,pdb,quota,role,rolebinding -o yaml");
    const wholeCluster = "clusterrole/creates-one clusterrole/creates-three clusterrolebinding/creates-one";
    await succeed(`get pc/creates-one ${wholeCluster} -o yaml`);
    await succeed(`get pc/creates-one ${wholeCluster} -o wide --show-labels`);
    await succeed(`describe pc/creates-one ${wholeCluster}`);
    await succeed("describe cm,secret,sa,svc,deploy,job,cronjob,ingress,pdb,quota,role,rolebinding");
    await succeed("describe namespace creates");
  });

  test("scale, rollout, set, autoscale and expose", async () => {
    const { succeed, fail } = await inNamespace("workloads");
    await succeed("create deployment web --image=example/main:1 --replicas=3");
    await succeed("create -f -", statefulSet);
    await succeed("create -f -", daemonSet);
    await succeed("scale deployment web --replicas=2");
    await fail("scale deployment web --replicas=1 --current-replicas=7");
    await succeed("scale deployment/web statefulset/db --replicas=4");
    await succeed("set image deployment/web main=example/main:2");
    await fail("set image deployment/web none=example/main:2");
    await succeed("set env deployment/web A=1 B=2");
    await succeed("set env deployment/web --list");
    await succeed("set resources deployment/web --limits=cpu=200m,memory=64Mi --requests=cpu=100m");
    await succeed("set serviceaccount deployment/web default");
    await succeed("expose deployment web --port=80 --target-port=8080 --name=web");
    await succeed("set selector service web app=other");
    await succeed("create rolebinding readers --clusterrole=view --user=one");
    await succeed("set subject rolebinding readers --user=two --serviceaccount=workloads:default");
    await succeed("autoscale deployment web --min=1 --max=5 --cpu=80%");
    await succeed("get deploy,sts,ds,svc,hpa,rolebinding -o yaml");
    await succeed("get deploy,sts,ds,svc,hpa,rolebinding -o wide");
    await succeed("describe deploy,sts,ds,svc,hpa");
    await succeed("get deployment web --subresource=scale -o yaml");
    await succeed('patch deployment web --subresource=scale --type=merge -p {"spec":{"replicas":2}}');
    await succeed("rollout pause deployment/web");
    await fail("rollout pause deployment/web");
    await fail("rollout restart deployment/web");
    await succeed("rollout resume deployment/web");
    await succeed("rollout restart deployment/web statefulset/db daemonset/agent");
    await succeed("rollout status deployment/web --watch=false");
    await succeed("rollout status daemonset/agent --watch=false");
    await succeed("rollout status statefulset/db --watch=false");
    await succeed("get deploy,sts,ds -o yaml");
  });

  test("rollout history and undo, of revisions that a controller would have made", async () => {
    const { succeed, fail } = await inNamespace("rollouts");
    await succeed("create deployment web --image=example/main:2");
    await succeed("create -f -", daemonSet);
    const [deployments, daemonSets] = await Promise.all(
      ["deployment/web", "daemonset/agent"].map((object) =>
        twins.outputs(["-n", "rollouts", "get", object, "-o", "jsonpath={.metadata.uid}"]),
      ),
    );
    assert.ok(deployments && daemonSets);
    for (const revision of [1, 2]) {
      for (const [make, [theirs, ours]] of [
        [replicaSet, deployments],
        [controllerRevision, daemonSets],
      ] as const) {
        const inputs = [theirs, ours].map((uid) => JSON.stringify(make(revision, uid))) as [string, string];
        await twins.same(["-n", "rollouts", "create", "-f", "-"], inputs);
      }
    }
    await succeed("annotate deployment web deployment.kubernetes.io/revision=2");
    await succeed("get rs,controllerrevisions -o wide");
    await succeed("describe deployment web");
    for (const object of ["deployment/web", "daemonset/agent"]) {
      await succeed(`rollout history ${object}`);
      await succeed(`rollout history ${object} --revision=1`);
      await fail(`rollout history ${object} --revision=7`);
      await succeed(`rollout undo ${object} --to-revision=1 --dry-run=server`);
      await succeed(`rollout undo ${object} --to-revision=1`);
      await succeed(`get ${object} -o yaml`);
    }
  });

  test("nodes are cordoned, tainted and drained", async () => {
    const { succeed, fail } = await inNamespace("nodes");
    await succeed("create -f -", node("n1"));
    await succeed("create -f -", node("n2"));
    await succeed("cordon n1");
    await succeed("cordon n1");
    await succeed("get nodes -o wide");
    await succeed("uncordon n1");
    await succeed("taint node n1 dedicated=db:NoSchedule");
    await fail("taint node n1 dedicated=web:NoSchedule");
    await succeed("taint node n1 dedicated=web:NoSchedule --overwrite");
    await succeed("taint node n1 dedicated:NoExecute");
    await succeed("taint nodes --all extra=1:PreferNoSchedule");
    await fail("taint node n1 bad=a:Sometimes");
    await succeed("taint node n1 dedicated-");
    await succeed("label node n1 tier=one");
    await succeed("get nodes --show-labels");
    await succeed("get nodes -o yaml");
    await succeed("describe node n1");
    for (const name of ["free", "guarded"]) await succeed("create -f -", podOn("n1", name));
    await succeed("get pods -o wide");
    await succeed("describe pod free");
    await fail("drain n1");
    await succeed("drain n1 --force --grace-period=0 --pod-selector=app=free --dry-run=server");
    await succeed("drain n1 --force --grace-period=0 --pod-selector=app=free");
    await succeed("create poddisruptionbudget guard --selector=app=guarded --min-available=1");
    await succeed(`patch pod guarded --subresource=status -p ${JSON.stringify({ status: running })}`);
    const allow = (disruptionsAllowed: number) => {
      const status = {
        observedGeneration: 1,
        disruptionsAllowed,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
      };
      return succeed(`patch pdb guard --subresource=status --type=merge -p ${JSON.stringify({ status })}`);
    };
    const drain = "drain n1 --force --grace-period=0 --pod-selector=app=guarded";
    await allow(0);
    await fail(`${drain} --timeout=1s`);
    await succeed("get pods -o wide");
    await allow(1);
    await succeed(drain);
    await succeed("get pdb guard -o yaml");
    await succeed("get pods -o name");
    await succeed("delete node n1");
    await succeed("delete node n2");
  });

  test("run, label, annotate, events, delete and wait", async () => {
    const { succeed, fail } = await inNamespace("pods");
    await succeed("run one --image=example/main:1 --labels=app=one,tier=front --port=80");
    await succeed("run two --image=example/main:1 --env=A=1 --restart=Never -- sleep 10");
    await fail("run Three --image=example/main:1");
    await succeed("run three --image=example/main:1 --dry-run=server -o yaml");
    await succeed("label pod one tier=back --overwrite");
    await succeed("label pods --all all=yes");
    await succeed("annotate pod one note=first");
    await succeed("set image pod/one one=example/main:2");
    await succeed("get pods -o wide --show-labels");
    await succeed("get pods -l tier=back -L app,tier");
    await succeed("get pods --field-selector=status.phase=Pending -o name");
    await succeed("get pod one -o yaml");
    await succeed("describe pods");
    await succeed("expose pod one --port=80");
    await succeed("create -f -", event("started", "Normal"));
    await succeed("create -f -", event("failed", "Warning"));
    await succeed("events");
    await succeed("events --types=Warning");
    await succeed("events --for=pod/one");
    await succeed("get events -o wide");
    await succeed("describe pod one");
    await succeed("get svc,endpoints,endpointslices,limitranges,pvc,netpol,hpa,leases");
    await succeed("delete pod one --grace-period=0 --force");
    await succeed("delete pod two --wait=false");
    await succeed("wait --for=delete pod/one --timeout=5s");
    await fail("wait --for=condition=Ready pod/none --timeout=1s");
    await fail("delete pod none");
    await succeed("delete pod none --ignore-not-found");
    await succeed("create deployment owner --image=example/main:1");
    await succeed("delete deployment owner --cascade=foreground --wait=false");
    await succeed("get deployment owner -o yaml");
    await succeed("create deployment other --image=example/main:1");
    await succeed("delete deployment other --cascade=orphan --wait=false");
    await succeed("get deployment other -o yaml");
    await succeed("create deployment last --image=example/main:1");
    await succeed("delete deployment last --cascade=background");
  });

  test("samples of every kind are created, shown, described and deleted", async () => {
    const { succeed } = await inNamespace("samples");
    // Binnacle serves older versions besides those of the real server.
    const [served] = await twins.outputs(["api-versions"]);
    const versions = new Set(served.split("\n"));
    const samples = readSamples("samples", "k").filter(({ body }) => versions.has(body.apiVersion));
    const bodies = [...new Map(samples.map(({ body }) => [body.kind, body])).values()];
    assert.ok(bodies.length > 20, `${bodies.length}`);
    const list = { apiVersion: "v1", kind: "List", items: bodies };
    await succeed("create -f -", list);
    await succeed("get -f - -o wide", list);
    await succeed("describe -f -", list);
    await succeed("delete -f - --wait=false --grace-period=0 --force", list);
  });

  test("certificate requests, explanations and the lists of kinds", async () => {
    const { succeed, fail } = await inNamespace("others");
    const request = printPem("CERTIFICATE REQUEST", makeRequest(makeKeys()));
    for (const name of ["yes", "no"]) {
      await succeed("create -f -", {
        apiVersion: "certificates.k8s.io/v1",
        kind: "CertificateSigningRequest",
        metadata: { name },
        spec: { request: btoa(request), signerName: "example.com/signer", usages: ["client auth"] },
      });
    }
    await succeed("certificate approve yes");
    await succeed("certificate deny no");
    await fail("certificate approve no");
    await fail("certificate approve none");
    await succeed("get csr yes no");
    await succeed("describe csr yes");
    // Binnacle has no descriptions.
    for (const kind of ["pods.spec.containers", "deployment", "cronjob", "ingress", "networkpolicy"]) {
      const both = await twins.outputs(["explain", kind, "--recursive"]);
      const [theirs, ours] = both.map((text) => text.slice(text.indexOf("FIELDS:")));
      assert.ok(theirs?.startsWith("FIELDS:"));
      assert.equal(ours, theirs);
    }
    await fail("explain pods.none");
    for (const group of ["", "apps", "batch", "autoscaling", "networking.k8s.io", "rbac.authorization.k8s.io"]) {
      await succeed(`api-resources --api-group=${group} -o wide`);
    }
    await succeed("cluster-info");
  });
});
