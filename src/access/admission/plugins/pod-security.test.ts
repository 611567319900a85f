import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../base/api/object.ts";
import { namespace, pod, World } from "../admission.suite.ts";
import { podSecurity } from "./pod-security.ts";

const PREFIX = "pod-security.kubernetes.io/";
const labels = (modes: Record<string, string>) =>
  Object.fromEntries(Object.entries(modes).map(([mode, value]) => [PREFIX + mode, value]));

async function judge(modes: Record<string, string>, object: KubeObject, previous?: KubeObject, subresource?: string) {
  const world = new World();
  await world.given("namespaces", namespace("ns", labels(modes)));
  return world.judge(podSecurity(world.access), { plural: "pods", object, previous, subresource });
}

const SAFE = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const container = (name: string, extra: object = {}, securityContext: object = {}) => ({
  name,
  image: "image",
  securityContext: { ...SAFE, ...securityContext },
  ...extra,
});
const safe = (spec: object = {}, metadata: object = {}) => pod({ containers: [container("a")], ...spec }, metadata);

const cases: readonly [level: string, detail: string, object: KubeObject][] = [
  ["baseline", "", pod()],
  ["restricted", "", safe()],
  [
    "restricted",
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    pod(),
  ],
  [
    "baseline",
    "host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)",
    safe({ hostIPC: true, hostNetwork: true, hostPID: true }),
  ],
  [
    "baseline",
    'hostPath volumes (volumes "v", "w")',
    safe({ volumes: ["v", "w"].map((name) => ({ name, hostPath: {} })) }),
  ],
  [
    "restricted",
    'restricted volume types (volumes "v", "w" use restricted volume types "hostPath", "nfs")',
    safe({
      volumes: [
        { name: "v", nfs: {} },
        { name: "w", hostPath: {} },
        { name: "x", emptyDir: {} },
      ],
    }),
  ],
  [
    "baseline",
    'hostPort (containers "i", "a" use hostPorts 443, 80)',
    safe({
      initContainers: [container("i", { ports: [{ hostPort: 80 }] })],
      containers: [container("a", { ports: [{ hostPort: 443 }, { hostPort: 0 }] })],
    }),
  ],
  [
    "baseline",
    'probe or lifecycle host (container "a" uses probe or lifecycle hosts "10.0.0.1", "x")',
    safe({
      containers: [
        container("a", {
          livenessProbe: { httpGet: { host: "x" } },
          lifecycle: { preStop: { tcpSocket: { host: "10.0.0.1" } } },
        }),
      ],
    }),
  ],
  ["baseline:v1.33", "", safe({ containers: [container("a", { livenessProbe: { httpGet: { host: "x" } } })] })],
  [
    "baseline",
    'privileged (containers "a", "b" must not set securityContext.privileged=true)',
    safe({ containers: ["a", "b"].map((name) => container(name, {}, { privileged: true })) }),
  ],
  [
    "baseline",
    'non-default capabilities (container "a" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
    safe({ containers: [container("a", {}, { capabilities: { add: ["SYS_ADMIN", "NET_RAW", "CHOWN"] } })] }),
  ],
  [
    "restricted",
    'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
    safe({ containers: [container("a", {}, { capabilities: { add: ["CHOWN", "NET_BIND_SERVICE"] } })] }),
  ],
  [
    "baseline",
    'forbidden AppArmor profiles (pod and container "a" and annotation must not set AppArmor profile type to "Other", "Unconfined", "container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
    safe(
      {
        securityContext: { appArmorProfile: { type: "Unconfined" } },
        containers: [container("a", {}, { appArmorProfile: { type: "Other" } })],
      },
      { annotations: { "container.apparmor.security.beta.kubernetes.io/a": "unconfined" } },
    ),
  ],
  [
    "baseline",
    'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: types "x_t", "y_t"; user may not be set; role may not be set)',
    safe({
      securityContext: { seLinuxOptions: { type: "y_t", role: "r" } },
      containers: [container("a", {}, { seLinuxOptions: { type: "x_t", user: "u" } })],
    }),
  ],
  ["baseline", "", safe({ securityContext: { seLinuxOptions: { type: "container_engine_t" } } })],
  [
    "baseline:v1.30",
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
    safe({ securityContext: { seLinuxOptions: { type: "container_engine_t" } } }),
  ],
  [
    "baseline",
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    safe({ containers: [container("a", {}, { procMount: "Unmasked" })] }),
  ],
  ["baseline", "", safe({ hostUsers: false, containers: [container("a", {}, { procMount: "Unmasked" })] })],
  [
    "restricted",
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    safe({ hostUsers: false, containers: [container("a", {}, { procMount: "Unmasked" })] }),
  ],
  [
    "restricted",
    'seccompProfile (pod and container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
    safe({
      securityContext: { seccompProfile: { type: "Unconfined" } },
      containers: [container("a", {}, { seccompProfile: { type: "Unconfined" } })],
    }),
  ],
  [
    "baseline:v1.18",
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    safe({}, { annotations: { "seccomp.security.alpha.kubernetes.io/pod": "unconfined" } }),
  ],
  [
    "baseline",
    "forbidden sysctls (kernel.msgmax, a)",
    safe({ securityContext: { sysctls: ["kernel.msgmax", "net.ipv4.tcp_rmem", "a"].map((name) => ({ name })) } }),
  ],
  [
    "baseline:v1.36",
    "forbidden sysctls (net.ipv4.tcp_notsent_lowat)",
    safe({ securityContext: { sysctls: [{ name: "net.ipv4.tcp_notsent_lowat" }] } }),
  ],
  [
    "baseline",
    'hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)',
    safe({
      securityContext: { windowsOptions: { hostProcess: true } },
      containers: [container("a", {}, { windowsOptions: { hostProcess: true } })],
    }),
  ],
  [
    "restricted",
    'runAsNonRoot != true (pod and container "a" must not set securityContext.runAsNonRoot=false)',
    safe({ securityContext: { runAsNonRoot: false }, containers: [container("a", {}, { runAsNonRoot: false })] }),
  ],
  [
    "restricted",
    'runAsUser=0 (pod and containers "a", "b" must not set runAsUser=0)',
    safe({
      securityContext: { runAsUser: 0 },
      containers: ["a", "b"].map((name) => container(name, {}, { runAsUser: 0 })),
    }),
  ],
  ["restricted", "", safe({ hostUsers: false, securityContext: { runAsUser: 0, runAsNonRoot: false } })],
  ["restricted:v1.22", "", safe({ securityContext: { runAsUser: 0 } })],
  [
    "restricted",
    "",
    pod({
      os: { name: "windows" },
      securityContext: { runAsNonRoot: true },
      containers: [{ name: "a", image: "image" }],
    }),
  ],
];

for (const [level, detail, object] of cases) {
  const [name = "", version = "latest"] = level.split(":");
  test(`${level}: ${detail || `nothing wrong with ${JSON.stringify(object.spec)}`}`, async () => {
    const { refusal } = await judge({ enforce: name, "enforce-version": version }, object);
    const expected = `pods "p" is forbidden: violates PodSecurity "${name}:${version}": ${detail}`;
    assert.equal(refusal, detail === "" ? undefined : expected);
  });
}

test("adds audit annotations for the audit level, and warnings for the warn level", async () => {
  const { refusal, warnings, annotations } = await judge(
    { audit: "restricted", warn: "baseline", enforce: "privileged" },
    pod({ hostPID: true }),
  );
  assert.equal(refusal, undefined);
  assert.deepEqual(warnings, ['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)']);
  assert.match(annotations[`${PREFIX}audit-violations`] ?? "", /^would violate PodSecurity "restricted:latest": host/);
  assert.equal(annotations[`${PREFIX}enforce-policy`], "privileged:latest");
});

test("a rejection has no warnings, and workloads warn about the enforced level", async () => {
  const { refusal, warnings } = await judge({ enforce: "baseline" }, pod({ hostPID: true }));
  assert.match(refusal ?? "", /violates PodSecurity/);
  assert.deepEqual(warnings, []);

  const world = new World();
  await world.given("namespaces", namespace("ns", labels({ enforce: "baseline", "enforce-version": "v1.30" })));
  const template = { metadata: {}, spec: { hostPID: true, containers: [] } };
  const make = (kind: string, spec: KubeObject["spec"]) => ({
    kind,
    apiVersion: "v1",
    metadata: { name: "d", namespace: "ns" },
    spec,
  });
  const expected = ['would violate PodSecurity "baseline:v1.30": host namespaces (hostPID=true)'];
  for (const [group, plural, spec] of [
    ["apps", "deployments", { template }],
    ["batch", "cronjobs", { jobTemplate: { spec: { template } } }],
  ] as const) {
    const object = make("X", spec);
    const verdict = await world.judge(podSecurity(world.access), { group, plural, object });
    assert.deepEqual([verdict.refusal, verdict.warnings], [undefined, expected]);
    const scale = await world.judge(podSecurity(world.access), { group, plural, object, subresource: "status" });
    assert.deepEqual(scale.warnings, []);
  }
  const without = await world.judge(podSecurity(world.access), {
    plural: "replicationcontrollers",
    object: make("ReplicationController", {}),
  });
  assert.deepEqual(without.warnings, []);
});

test("checks updates only if they change images", async () => {
  const bad = pod({ hostPID: true });
  const other = pod({ hostPID: true, containers: [{ name: "a", image: "other" }] });
  const joined = pod({ hostPID: true, ephemeralContainers: [{ name: "e", image: "image" }] });
  assert.equal((await judge({ enforce: "baseline" }, bad, bad)).refusal, undefined);
  assert.match((await judge({ enforce: "baseline" }, other, bad)).refusal ?? "", /violates/);
  assert.match((await judge({ enforce: "baseline" }, joined, bad, "ephemeralcontainers")).refusal ?? "", /violates/);
  assert.equal((await judge({ enforce: "baseline" }, other, bad, "status")).refusal, undefined);
});

test("rejects a namespace with invalid labels, unless it had them before", async () => {
  const world = new World();
  const plugin = podSecurity(world.access);
  const wrong = namespace("ns", labels({ enforce: "strict", "warn-version": "1.30" }));
  const { refusal, error } = await world.judge(plugin, { plural: "namespaces", object: wrong });
  assert.equal(
    refusal,
    'Namespace "ns" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.30": must be "latest" or "v1.x"]',
  );
  assert.equal(error?.code, 422);
  assert.equal(
    (await world.judge(plugin, { plural: "namespaces", object: wrong, previous: wrong })).refusal,
    undefined,
  );
  const fewer = namespace("ns", labels({ enforce: "strict" }));
  assert.match(
    (await world.judge(plugin, { plural: "namespaces", object: fewer, previous: wrong })).refusal ?? "",
    /invalid/,
  );
  // Invalid labels enforce the strictest level.
  await world.given("namespaces", wrong);
  assert.match((await world.judge(plugin, { plural: "pods", object: pod() })).refusal ?? "", /"restricted:latest"/);
});

test("warns about existing pods if a namespace becomes stricter", async () => {
  const world = new World();
  const plugin = podSecurity(world.access);
  const owner = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "u", controller: true }];
  await world.given("pods", pod({ hostPID: true }, { name: "b", ownerReferences: owner }));
  await world.given("pods", pod({ hostPID: true }, { name: "a", ownerReferences: owner }));
  await world.given("pods", pod({ hostPID: true }, { name: "c" }));
  await world.given(
    "pods",
    pod({ hostPID: true, hostIPC: true, volumes: [{ name: "v", hostPath: {} }] }, { name: "d" }),
  );
  await world.given("pods", pod({}, { name: "e" }));
  const update = (next: Record<string, string>, previous: Record<string, string>) =>
    world.judge(plugin, {
      plural: "namespaces",
      object: namespace("ns", labels(next)),
      previous: namespace("ns", labels(previous)),
    });
  assert.deepEqual((await update({ enforce: "baseline" }, {})).warnings, [
    'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
    "a (and 2 other pods): host namespaces",
    "d: host namespaces, hostPath volumes",
  ]);
  assert.deepEqual((await update({ enforce: "baseline" }, { enforce: "restricted" })).warnings, []);
  assert.deepEqual((await update({ enforce: "baseline" }, { enforce: "baseline" })).warnings, []);
  assert.deepEqual((await update({ enforce: "privileged" }, { enforce: "baseline" })).warnings, []);
});
