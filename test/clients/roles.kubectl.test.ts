import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { tokens } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";
import { KubectlTwins } from "./kubectl-twins.ts";

/** Makes roles and bindings in every way that kubectl knows, and shows them. */
const MAKING = [
  "create namespace rights",
  "create role pods --verb=get,list --resource=pods -n rights",
  "create role named --verb=get --resource=configmaps --resource-name=one --resource-name=two -n rights",
  "create role sub --verb=create --resource=pods/eviction,deployments.apps/scale -n rights",
  "create role none --verb=get --resource=nonsense -n rights",
  "create role odd --verb=fly --resource=pods -n rights",
  "create clusterrole paths --verb=get --non-resource-url=/logs/*",
  "create clusterrole nodes --verb=get,watch --resource=nodes",
  "create clusterrole sum --aggregation-rule=rights=yes",
  "create rolebinding users --role=pods --user=bob --group=ops -n rights",
  "create rolebinding accounts --clusterrole=view --serviceaccount=rights:bot -n rights",
  "create rolebinding lost --role=nothing --user=bob -n rights",
  "create clusterrolebinding nodes --clusterrole=nodes --user=bob --group=ops --serviceaccount=rights:bot",
  "create role pods --verb=get --resource=pods -n rights",
  "create role again --verb=get --resource=pods -n rights --dry-run=server -o yaml",
  "get role pods named sub -n rights -o yaml",
  "get clusterrole paths nodes sum -o yaml",
  "get rolebinding users accounts lost -n rights -o yaml",
  "get role,rolebinding -n rights -o wide",
  "describe role pods named sub -n rights",
  "describe rolebinding users accounts -n rights",
  "describe clusterrole paths nodes sum view",
  "describe clusterrolebinding nodes",
  "set subject rolebinding users --user=carol -n rights",
  "get rolebinding users -n rights -o yaml",
  'patch rolebinding users -n rights --type=merge -p={"roleRef":{"name":"named"}}',
];

/** What alice, who has no rights, is told. */
const REFUSED = [
  "get pods",
  "get pods -A",
  "get pods one -n rights",
  "get nodes",
  "get deployments.apps -n rights",
  "get secrets,configmaps -n rights",
  "get --raw /metrics",
  "get --raw /api/v1/namespaces/rights/pods/one/log",
  "create configmap one -n rights",
  "create deployment one --image=x -n rights",
  "create serviceaccount one -n rights",
  "create token bot -n rights",
  "delete pod one -n rights",
  "delete pods --all -n rights",
  "scale deployment one --replicas=2 -n rights",
  "label node one a=b",
  "logs one -n rights",
  "exec one -n rights -- ls",
  "drain one",
  "cordon one",
  "top pods -n rights",
  "certificate approve one",
  "create role mine --verb=get --resource=pods -n rights",
  "create clusterrolebinding mine --clusterrole=cluster-admin --user=alice",
  "get pods --as=admin",
  "get pods --as=alice --as-group=system:masters",
  "describe namespace rights",
  "api-resources --api-group=apps",
  "auth whoami",
];

const RECONCILED = (extra: string) => `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reconciled, labels: {kept: "1"}}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get${extra}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reconciled}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reconciled}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: bob${extra.replace(", ", "-")}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reconciled, namespace: new-by-reconcile}
rules:
- {apiGroups: [apps], resources: [deployments], verbs: [get${extra}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reconciled, namespace: new-by-reconcile}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reconciled}
subjects:
- {kind: ServiceAccount, name: bot, namespace: new-by-reconcile}
`;

const SHOWN = [
  "get clusterrole/reconciled clusterrolebinding/reconciled -o yaml",
  "get role/reconciled rolebinding/reconciled -n new-by-reconcile -o yaml",
];

suite("kubectl makes roles and shows refusals as with kube-apiserver", {
  ...needs("kubectl", "kube-apiserver", "etcd"),
}, () => {
  let twins: KubectlTwins;
  before(async () => {
    twins = await KubectlTwins.start();
  });
  after(() => twins?.stop());

  test("create role, clusterrole, rolebinding, clusterrolebinding", async () => {
    for (const line of MAKING) await twins.same(line.split(" "));
  });

  test("auth reconcile", async () => {
    const reconcile = async (text: string, ...flags: string[]) => {
      const result = await twins.same(["auth", "reconcile", "-f", "-", ...flags], [text, text]);
      assert.equal(result.code, 0, result.stderr);
      for (const line of SHOWN) await twins.same(line.split(" "));
    };
    await reconcile(RECONCILED(""), "--dry-run=client");
    await reconcile(RECONCILED(""));
    await reconcile(RECONCILED(", list"));
    await reconcile(RECONCILED(""), "--remove-extra-permissions", "--remove-extra-subjects", "--dry-run=client");
    await reconcile(RECONCILED(""), "--remove-extra-permissions", "--remove-extra-subjects");
    const other = RECONCILED("").replace("kind: ClusterRole, name: reconciled", "kind: ClusterRole, name: view");
    await reconcile(other);
  });

  test("what alice is told", async () => {
    const alice = await twins.as("alice", { token: tokens.alice });
    let forbidden = 0;
    for (const line of REFUSED) {
      const { stderr } = await alice.same(line.split(" "));
      if (stderr.includes("Error from server (Forbidden)")) forbidden += 1;
    }
    assert.ok(forbidden >= 20, String(forbidden));
  });
});
