import type { JsonObject } from "../../../../src/base/api/object.ts";
import type { Area } from "../cases.ts";
import { CERTIFICATE_REQUEST } from "../pem.ts";

/** A request for a client certificate, of a name of its own. */
const request = (name: string): JsonObject => ({
  apiVersion: "certificates.k8s.io/v1",
  kind: "CertificateSigningRequest",
  metadata: { name },
  spec: {
    request: CERTIFICATE_REQUEST,
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["digital signature", "key encipherment", "client auth"],
  },
});

const condition = "-o jsonpath={range.status.conditions[*]}{.type}={.status}:{.reason}{end}";

/** Requests for certificates are approved and denied. */
export const certificate: Area = {
  name: "certificate",
  cases: [
    {
      title: "approved and denied, by name and by file",
      files: { "one.json": request("kubectl-one"), "two.json": request("kubectl-two") },
      steps: [
        "create -f one.json",
        "get csr kubectl-one",
        "certificate approve kubectl-one",
        `get csr kubectl-one ${condition}`,
        "certificate approve kubectl-one",
        "certificate deny kubectl-one",
        "get csr kubectl-one -o wide",
        "describe csr kubectl-one",
        "delete -f one.json",
        "create -f one.json",
        "certificate approve -f one.json",
        "delete -f one.json",
        "create -f two.json",
        "certificate deny kubectl-two",
        `get csr kubectl-two ${condition}`,
        "certificate approve kubectl-two --force",
        "delete -f two.json",
        "create -f two.json",
        "certificate deny -f two.json",
        "get csr kubectl-two",
        "delete -f two.json",
        "certificate approve kubectl-three",
        "certificate approve",
      ],
    },
  ],
};

const credentials = (user: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "main",
  clusters: [{ name: "main", cluster: { server: "%{server}", "insecure-skip-tls-verify": true } }],
  users: [{ name: "plugin", user }],
  contexts: [{ name: "main", context: { cluster: "main", user: "plugin", namespace: "%{namespace}" } }],
});

const plugin = (version: string, command: string, more: JsonObject = {}): JsonObject =>
  credentials({
    exec: { apiVersion: `client.authentication.k8s.io/${version}`, command, interactiveMode: "Never", ...more },
  });

const execCredential = (version: string, status: string) =>
  `#!/bin/sh\necho '{"apiVersion":"client.authentication.k8s.io/${version}","kind":"ExecCredential","status":${status}}'\n`;

const kuberc = (policy: string, more = "") =>
  `apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\ncredentialPluginPolicy: ${policy}\n${more}`;

const GET = "get namespace kube-system -o name";

/** Credentials that a program gives. */
export const authentication: Area = {
  name: "authentication",
  cases: [
    ...["v1", "v1beta1"].map((version) => ({
      title: `a credential plugin of ${version}`,
      files: {
        "valid.sh": execCredential(version, '{"token":"%{token}"}'),
        "invalid.sh": execCredential(version, '{"token":"nonsense"}'),
        "broken.sh": "#!/bin/sh\necho nonsense\n",
        "failing.sh": "#!/bin/sh\necho no credentials here >&2\nexit 3\n",
        "valid.json": plugin(version, "%{directory}/valid.sh"),
        "invalid.json": plugin(version, "%{directory}/invalid.sh"),
        "broken.json": plugin(version, "%{directory}/broken.sh"),
        "failing.json": plugin(version, "%{directory}/failing.sh"),
        "missing.json": plugin(version, "%{directory}/missing.sh", { installHint: "install it" }),
        "always.json": plugin(version, "%{directory}/valid.sh", { interactiveMode: "Always" }),
        "unsaid.json": plugin(version, "%{directory}/valid.sh", { interactiveMode: "" }),
      },
      steps: [
        `--kubeconfig=valid.json ${GET}`,
        `--kubeconfig=invalid.json ${GET}`,
        `--kubeconfig=invalid.json --token=%{token} ${GET}`,
        `--kubeconfig=broken.json ${GET}`,
        `--kubeconfig=failing.json ${GET}`,
        `--kubeconfig=missing.json ${GET}`,
        `--kubeconfig=always.json ${GET}`,
        `--kubeconfig=unsaid.json ${GET}`,
        `--kubeconfig=valid.json --username=wrong --password=wrong ${GET}`,
        "--kubeconfig=valid.json auth whoami",
        {
          run: "--kubeconfig=always.json apply -f -",
          input: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } },
        },
      ],
    })),
    {
      title: "which plugins may run is a preference",
      files: {
        "valid.sh": execCredential("v1", '{"token":"%{token}"}'),
        "valid.json": plugin("v1", "%{directory}/valid.sh"),
        "deny.yaml": kuberc("DenyAll"),
        "other.yaml": kuberc("Allowlist", "credentialPluginAllowlist:\n- command: other\n"),
        "listed.yaml": kuberc("Allowlist", 'credentialPluginAllowlist:\n- command: "%{directory}/valid.sh"\n'),
        "unlisted.yaml": kuberc("AllowAll"),
        "wrong.yaml": kuberc("Allowlist", 'credentialPluginAllowlist:\n- command: ""\n'),
      },
      steps: [
        ...["deny", "other", "listed", "unlisted", "wrong"].map(
          (name) => `--kubeconfig=valid.json --kuberc=${name}.yaml ${GET}`,
        ),
        "--kubeconfig=valid.json --kuberc=deny.yaml config view",
      ],
    },
    {
      title: "tokens, good and bad",
      steps: [
        `--token=alicetoken ${GET}`,
        `--token=nonsense ${GET}`,
        "create token default -o jsonpath={.kind}",
        { run: "create token default --duration=10m", keep: "made" },
        "--token=%{made} auth whoami -o jsonpath={.status.userInfo.username}",
        "create token nowhere",
        "create token default --duration=1m",
        "create token default --audience=https://example.com -o jsonpath={.spec.audiences}",
        "create token default --bound-object-kind=Pod --bound-object-name=nowhere",
        "create token default --bound-object-kind=Secret",
      ],
    },
  ],
};

/** What one may do, and impersonation. */
export const authorization: Area = {
  name: "authorization",
  cases: [
    {
      title: "reviews",
      files: {
        "review.json": {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec: {
            user: "alice",
            groups: ["dev"],
            resourceAttributes: { verb: "get", resource: "pods", namespace: "%{namespace}" },
          },
        },
      },
      steps: [
        "create -f review.json --validate=false",
        "create -f review.json -o yaml",
        "create --raw /apis/authorization.k8s.io/v1/subjectaccessreviews -f review.json",
      ],
    },
    {
      title: "somebody else",
      files: { "request.json": request("kubectl-as") },
      steps: [
        "get pods --as-group=dev",
        "get pods --as-uid=abc123",
        "get pods --as=alice",
        "create -f request.json --as=alice",
        "create -f request.json --as=alice --as-group=system:masters --as-uid=abc123 --as-user-extra=reason=test",
        "get csr kubectl-as -o jsonpath={.spec.username}:{.spec.uid}:{.spec.groups}:{.spec.extra}",
        "delete -f request.json",
        "create -f request.json --as=alice --as-group=system:masters --as-group=,,,odd",
        "get csr kubectl-as -o jsonpath={.spec.groups}",
        "delete -f request.json",
        "--token=alicetoken get pods --as=admin",
      ],
    },
    {
      title: "what one may do is asked",
      steps: [
        "auth can-i create pods",
        "auth can-i create pods --as=alice",
        "auth can-i '*' '*' --all-namespaces",
        "auth can-i get pods/log --subresource=log",
        "auth can-i get /healthz --as=alice",
        "auth can-i list nodes --as=alice",
        "auth can-i nonsense pods",
        "auth can-i get nonsense",
        "auth can-i get pods -q --as=alice",
        "auth can-i --list --as=alice",
        "auth can-i create --list",
        "auth can-i",
      ],
    },
  ],
};

/** Roles and bindings. */
export const rbac: Area = {
  name: "rbac",
  cases: [
    {
      title: "ClusterRoles and their bindings",
      steps: [
        "get clusterrole kubectl-pods",
        "create clusterrole kubectl-pods --dry-run=client --verb=* --resource=pods",
        "create clusterrole kubectl-pods --dry-run=server --verb=* --resource=pods",
        "create clusterrole kubectl-pods --verb=* --resource=pods",
        "get clusterrole kubectl-pods -o yaml",
        "delete clusterrole kubectl-pods -n default",
        "create clusterrole kubectl-reader --verb=get,list --resource=pods,deployments.apps",
        "create clusterrole kubectl-named --verb=get,list --resource=pods --resource-name=foo --resource-name=bar",
        "create clusterrole kubectl-urls --verb=get --non-resource-url=/logs/* --non-resource-url=/healthz/*",
        "create clusterrole kubectl-sum --aggregation-rule=a=b",
        "describe clusterrole kubectl-reader kubectl-named kubectl-urls",
        "get clusterrole kubectl-sum -o jsonpath={.aggregationRule}",
        "get clusterrolebinding kubectl-super",
        "create clusterrolebinding kubectl-super --dry-run=client --clusterrole=admin --user=super",
        "create clusterrolebinding kubectl-super --dry-run=server --clusterrole=admin --user=super",
        "create clusterrolebinding kubectl-super --clusterrole=admin --user=super",
        "set subject --dry-run=client clusterrolebinding kubectl-super --user=other",
        "set subject --dry-run=server clusterrolebinding kubectl-super --user=other",
        "set subject clusterrolebinding kubectl-super --user=other",
        "create clusterrolebinding kubectl-users --clusterrole=admin --user=one --user=two",
        "create clusterrolebinding kubectl-groups --clusterrole=admin --group=one --group=two",
        "set subject clusterrolebinding kubectl-groups --group=three",
        "create clusterrolebinding kubectl-accounts --clusterrole=admin --serviceaccount=other:account",
        "set subject clusterrolebinding kubectl-accounts --serviceaccount=else:where",
        "label clusterrolebinding kubectl-super kubectl-users kubectl-groups kubectl-accounts of=kubectl",
        "set subject clusterrolebinding -l of=kubectl --user=everywhere",
        "get clusterrolebindings -l of=kubectl -o wide",
        "describe clusterrolebinding kubectl-groups",
        "delete clusterrolebindings -l of=kubectl",
        "delete clusterroles kubectl-reader kubectl-named kubectl-urls kubectl-sum",
      ],
    },
    {
      title: "Roles and their bindings",
      steps: [
        "create role pods --dry-run=client --verb=* --resource=pods",
        "create role pods --dry-run=server --verb=* --resource=pods",
        "get role/pods",
        "create role pods --verb=* --resource=pods",
        "create role wrong --verb=* --resource=nonsense",
        "create role groups --verb=get,list --resource=deployments.apps",
        "create role wrong --verb=get,list --resource=deployments.nonsense",
        "create role status --verb=get,list --resource=pods/status",
        "create role scaler --verb=get,list --resource=replicasets.apps/scale",
        "create role wrong --verb=get,list --resource=rs.nonsense/scale",
        "create role named --verb=get,list --resource=pods --resource-name=foo",
        "create role several --verb=get,list --resource=pods/status,deployments.apps",
        "create role wrong --verb=fly --resource=pods",
        "get roles -o custom-columns=NAME:.metadata.name,RULES:.rules",
        "describe role several",
        "create rolebinding first --dry-run=client --clusterrole=admin --user=alice",
        "create rolebinding first --dry-run=server --clusterrole=admin --user=alice",
        "get rolebinding/first",
        "create rolebinding first --clusterrole=admin --user=alice",
        "set subject rolebinding first --user=bob",
        "create rolebinding second --role=pods --group=dev",
        "set subject rolebinding second --group=ops",
        "create rolebinding third --role=pods --serviceaccount=other:account",
        "set subject rolebinding --all --user=everyone",
        "get rolebindings -o wide",
        "create rolebinding wrong --clusterrole=admin --role=pods",
        { run: 'patch rolebinding first --type=merge -p \'{"roleRef":{"name":"edit"}}\'' },
      ],
    },
    {
      title: "roles are reconciled from a file",
      files: {
        "role.json": {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "Role",
          metadata: { name: "kept", namespace: "%{namespace}" },
          rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
        },
        "more.json": {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "Role",
          metadata: { name: "kept", namespace: "%{namespace}" },
          rules: [{ apiGroups: [""], resources: ["services"], verbs: ["get"] }],
        },
        "binding.json": {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: { name: "kept", namespace: "%{namespace}" },
          subjects: [{ kind: "User", name: "alice", apiGroup: "rbac.authorization.k8s.io" }],
          roleRef: { kind: "Role", name: "kept", apiGroup: "rbac.authorization.k8s.io" },
        },
      },
      steps: [
        "auth reconcile -f role.json -f binding.json --dry-run=client",
        "auth reconcile -f role.json -f binding.json",
        "auth reconcile -f more.json",
        "get role kept -o jsonpath={.rules}",
        "auth reconcile -f more.json --remove-extra-permissions",
        "get role kept -o jsonpath={.rules}",
        "get pods --as=alice",
      ],
    },
  ],
};
