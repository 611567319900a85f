import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import { moduleFolder } from "../real-crds/modules.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { type Kubectl, kubectlFor } from "../support/kubectl.ts";
import { freePort } from "../support/ports.ts";
import { startProcess } from "../support/process.ts";
import { eventually } from "../support/time.ts";
import { cacheFolder } from "../support/tools.ts";

/**
 * `npm run compare gatekeeper`: Gatekeeper as a process beside Binnacle, with its own manifests. It makes its certificates, puts
 * them into its webhook configurations, turns a ConstraintTemplate into a CustomResourceDefinition, refuses what a
 * constraint forbids and changes what a mutator names.
 */
const GATEKEEPER = {
  module: "github.com/open-policy-agent/gatekeeper/v3",
  version: "v3.23.1",
  sum: "h1:njHTm0SJ6ZEhhEgmQTpJKTGQbc99fSs4hGiEp1OIKck=",
} as const;
const NAMESPACE = "gatekeeper-system";
const POD = "gatekeeper-0";
const PATIENCE = { withinMs: 180_000, everyMs: 500 } as const;

const TEMPLATE = `
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: k8srequiredlabels}
spec:
  crd:
    spec:
      names: {kind: K8sRequiredLabels}
      validation:
        openAPIV3Schema:
          type: object
          properties:
            labels: {type: array, items: {type: string}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    rego: |
      package k8srequiredlabels
      violation[{"msg": msg}] {
        wanted := input.parameters.labels[_]
        not input.review.object.metadata.labels[wanted]
        msg := sprintf("label %v is missing", [wanted])
      }
`;
const CONSTRAINT = `
apiVersion: constraints.gatekeeper.sh/v1beta1
kind: K8sRequiredLabels
metadata: {name: owner}
spec:
  match:
    kinds:
    - {apiGroups: [""], kinds: [ConfigMap]}
    namespaces: [default]
  parameters: {labels: [owner]}
`;
const MUTATOR = `
apiVersion: mutations.gatekeeper.sh/v1
kind: AssignMetadata
metadata: {name: team}
spec:
  match:
    scope: Namespaced
    namespaces: [default]
    kinds:
    - {apiGroups: [""], kinds: [ConfigMap]}
  location: metadata.labels.team
  parameters: {assign: {value: red}}
`;
const configMap = (name: string, labels: Record<string, string>) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default", labels } });

/** Builds Gatekeeper from its module, unless it is there. */
async function build(sources: string): Promise<string> {
  const folder = path.join(cacheFolder(), "gatekeeper", GATEKEEPER.version);
  const program = path.join(folder, "gatekeeper");
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const copy = await mkdtemp(path.join(tmpdir(), "gatekeeper-"));
  try {
    await cp(sources, copy, { recursive: true });
    const env = { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" };
    await promisify(execFile)("go", ["build", "-o", program, "."], { cwd: copy, env, maxBuffer: 64 << 20 });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return program;
}

async function apply(kubectl: Kubectl, ...args: string[]): Promise<void> {
  const { code, stderr } = await kubectl(["apply", "--server-side", ...args]);
  assert.equal(code, 0, stderr);
}

async function applyText(kubectl: Kubectl, input: string): Promise<string | undefined> {
  const { code, stderr } = await kubectl(["apply", "-f", "-"], { input });
  return code === 0 ? undefined : stderr;
}

/** Puts the Secret's certificates where a kubelet would mount them. */
async function mountCertificates(kubectl: Kubectl, folder: string): Promise<void> {
  const data = await eventually(async () => {
    const { stdout } = await kubectl([
      "get",
      "secret",
      "gatekeeper-webhook-server-cert",
      "-n",
      NAMESPACE,
      "-o",
      "json",
    ]);
    const found = stdout === "" ? {} : (JSON.parse(stdout).data ?? {});
    return found["tls.crt"] !== undefined && found;
  }, PATIENCE);
  for (const [name, value] of Object.entries<string>(data)) {
    await writeFile(path.join(folder, name), Buffer.from(value, "base64"));
  }
}

const say = (step: string) => process.stdout.write(`ok ${step}\n`);

const sources = await moduleFolder({ ...GATEKEEPER, name: "gatekeeper", folders: [] });
const program = await build(sources);
const folder = await mkdtemp(path.join(tmpdir(), "binnacle-gatekeeper-"));
const webhookPort = await freePort();
const handlersFile = path.join(folder, "handlers.mjs");
await writeFile(
  handlersFile,
  `export const handlers = { service: ({ metadata }) => metadata.namespace === "${NAMESPACE}" ? { port: ${webhookPort} } : undefined };\n`,
);
const server = await startBinnacle({
  flags: [`--controllers=${DEFAULT_CONTROLLERS}`, "--custom-objects=defined", `--handlers=${handlersFile}`],
});
try {
  const kubectl = kubectlFor(server.kubeconfig);
  await apply(kubectl, "-f", path.join(sources, "deploy", "gatekeeper.yaml"));
  const { stdout } = await kubectl([
    "get",
    "deployment",
    "gatekeeper-controller-manager",
    "-n",
    NAMESPACE,
    "-o",
    "json",
  ]);
  const { metadata, spec } = JSON.parse(stdout).spec.template;
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: POD, namespace: NAMESPACE }, spec };
  assert.equal(await applyText(kubectl, JSON.stringify(pod)), undefined);
  say("its manifests are applied");

  const certificates = path.join(folder, "certs");
  const auditFolder = path.join(folder, "audit");
  await Promise.all([mkdir(certificates), mkdir(auditFolder)]);
  const gatekeeper = await startProcess(
    program,
    [
      ...["--host=127.0.0.1", `--port=${webhookPort}`, `--cert-dir=${certificates}`, "--health-addr=127.0.0.1:0"],
      ...[
        `--prometheus-port=${await freePort()}`,
        "--audit-interval=5",
        `--api-cache-dir=${auditFolder}`,
        "--shutdown-delay=0",
        "--logtostderr",
      ],
      ...[`--exempt-namespace=${NAMESPACE}`, "--disable-opa-builtin={http.send}"],
    ],
    {
      env: {
        ...process.env,
        KUBECONFIG: server.kubeconfig,
        POD_NAME: POD,
        POD_NAMESPACE: NAMESPACE,
        NAMESPACE,
        CONTAINER_NAME: "manager",
      },
    },
  );
  try {
    await mountCertificates(kubectl, certificates);
    say("its certificates are made");
    const refused = async (text: string) => {
      if (gatekeeper.hasExited) throw new Error(`${await gatekeeper.exited}: ${gatekeeper.output()}`);
      return applyText(kubectl, text);
    };
    await eventually(async () => (await refused(TEMPLATE)) === undefined, PATIENCE);
    await eventually(async () => (await refused(CONSTRAINT)) === undefined, PATIENCE);
    say("a template became a kind, and has an object");
    const message = await eventually(async () => refused(configMap("unowned", {})), PATIENCE);
    assert.match(
      message,
      /admission webhook "validation.gatekeeper.sh" denied the request: \[owner\] label owner is missing/,
    );
    say("what the constraint forbids is refused");
    assert.equal(await refused(configMap("owned", { owner: "me" })), undefined);
    await eventually(async () => (await refused(MUTATOR)) === undefined, PATIENCE);
    let turn = 0;
    await eventually(async () => {
      turn += 1;
      assert.equal(await refused(configMap(`owned-${turn}`, { owner: "me" })), undefined);
      const { stdout } = await kubectl(["get", "configmap", `owned-${turn}`, "-o", "jsonpath={.metadata.labels.team}"]);
      return stdout === "red";
    }, PATIENCE);
    say("what the mutator names is changed");
    const audit = async () => {
      const { stdout } = await kubectl([
        "get",
        "k8srequiredlabels",
        "owner",
        "-o",
        "jsonpath={.status.totalViolations}",
      ]);
      return stdout !== "" && stdout;
    };
    say(`its audit found ${await eventually(audit, PATIENCE)} violations`);
  } finally {
    await gatekeeper.kill();
  }
} finally {
  await server.kill();
  await rm(folder, { recursive: true, force: true });
}
