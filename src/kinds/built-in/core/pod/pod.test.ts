import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { defaultFeatureGates } from "../../../../base/api/feature-gates.ts";
import { printFieldError } from "../../../../base/api/field-error.ts";
import type { Json, JsonObject, KubeObject } from "../../../../base/api/object.ts";
import { systemClock } from "../../../../base/util/clock.ts";
import { cloneJson } from "../../../../base/util/clone.ts";
import { decodeBySchema } from "../../../../data/schema/decode.ts";
import type { WriteContext } from "../../../../resources/model/definition.ts";
import { Draft } from "../../../../resources/model/draft.ts";
import { builtInSchema } from "../../../schema-files/built-in-schemas.ts";
import { podHooks } from "./pod.ts";
import { emptyEphemeralErrors } from "./pod-containers-validation.ts";

const context = (object: KubeObject, subresource = ""): WriteContext => ({
  ...{ subresource, apiVersion: "v1", now: 0, features: defaultFeatureGates },
  draft: new Draft(object),
});
const main = { name: "main", image: "i:1" };

/** A pod as passed to the hooks of its kind: decoded, and with defaults. */
function pod(spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  const sent = { metadata: { name: "p", namespace: "n", ...metadata }, spec: { containers: [main], ...spec } };
  const { value, error } = decodeBySchema(cloneJson(sent), builtInSchema("io.k8s.api.core.v1.Pod"));
  assert.equal(error, undefined);
  const made = { kind: "Pod", apiVersion: "v1", ...value } as KubeObject;
  podHooks.setDefaults?.(made, "v1", { clock: systemClock, features: defaultFeatureGates });
  return made;
}

function created(spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  const made = pod(spec, { creationTimestamp: "2030-01-01T00:00:00Z", ...metadata });
  podHooks.prepare?.(made, undefined, context(made));
  return made;
}

const errorsOf = (next: KubeObject, previous?: KubeObject, subresource = ""): string[] =>
  (podHooks.validate?.(next, previous, context(next, subresource)) ?? []).map(
    (error) => printFieldError(error).split("\n")[0] ?? "",
  );

/** The errors of a change to a created pod. */
function changed(spec: JsonObject, change: (next: JsonObject) => void, subresource = ""): string[] {
  const previous = created(spec);
  const next = cloneJson(previous);
  change(next.spec as JsonObject);
  podHooks.prepare?.(next, previous, context(next, subresource));
  return errorsOf(next, previous, subresource);
}

test("reports a field that an ephemeral container must not have once, also if it was sent empty", () => {
  const at = ["spec", "ephemeralContainers", 0];
  const empties = [
    { path: [...at, "resources", "claims"], value: [] },
    { path: [...at, "resources", "limits"], value: {} },
    { path: [...at, "ports"], value: [] },
    { path: [...at, "args"], value: [] },
  ];
  const refused = (resources: JsonObject): string[] => {
    const object = pod({ ephemeralContainers: [{ name: "e", image: "i", resources }] });
    const errors = emptyEphemeralErrors({ ...context(object), draft: new Draft(object, { empties }) });
    return errors.map(({ field }) => field);
  };
  assert.deepEqual(refused({}), ["spec.ephemeralContainers[0].resources", "spec.ephemeralContainers[0].ports"]);
  assert.deepEqual(refused({ limits: { cpu: "1" } }), ["spec.ephemeralContainers[0].ports"]);
});

suite("a new pod", () => {
  const { spec, status } = created({});
  const { containers: [container] = [], ...rest } = spec as { containers: Json[] } & JsonObject;

  test("has the defaults of every pod", () => {
    assert.deepEqual(rest, {
      dnsPolicy: "ClusterFirst",
      enableServiceLinks: true,
      restartPolicy: "Always",
      schedulerName: "default-scheduler",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    });
    assert.deepEqual(container, {
      ...main,
      imagePullPolicy: "IfNotPresent",
      resources: {},
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
    });
    assert.deepEqual(status, { phase: "Pending", qosClass: "BestEffort" });
  });

  test("has requests equal to its limits, unless it sets them", () => {
    const resources = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "100500u" } };
    const { spec, status } = created({ containers: [{ ...main, resources }] });
    assert.deepEqual((spec as JsonObject & { containers: JsonObject[] }).containers[0]?.resources, {
      limits: { cpu: "1", memory: "1Gi" },
      requests: { cpu: "101m", memory: "1Gi" },
    });
    assert.equal((status as JsonObject).qosClass, "Burstable");
  });

  test("is not scheduled while it has scheduling gates", () => {
    const { status } = created({ schedulingGates: [{ name: "a/b" }] });
    assert.deepEqual((status as JsonObject).conditions, [
      {
        type: "PodScheduled",
        status: "False",
        lastProbeTime: null,
        lastTransitionTime: "2030-01-01T00:00:00Z",
        reason: "SchedulingGated",
        message: "Scheduling is blocked due to non-empty scheduling gates",
      },
    ]);
  });

  test("adds matchLabelKeys to its selectors", () => {
    const selector = { matchLabels: { x: "y" } };
    const topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: "z",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: selector,
        matchLabelKeys: ["app", "no"],
      },
    ];
    const { spec } = created({ topologySpreadConstraints }, { labels: { app: "a" } });
    const [constraint] = (spec as JsonObject).topologySpreadConstraints as JsonObject[];
    const matchExpressions = [{ key: "app", operator: "In", values: ["a"] }];
    assert.deepEqual(constraint?.labelSelector, { ...selector, matchExpressions });
  });

  test("loses fields of disabled features", () => {
    const container = { ...main, lifecycle: { stopSignal: "SIGTERM" } };
    const { spec } = created({ containers: [container], volumes: [{ name: "v", emptyDir: { mode: 0o700 } }] });
    const { containers, volumes } = spec as { containers: JsonObject[]; volumes: JsonObject[] } & JsonObject;
    assert.equal(containers[0]?.lifecycle, undefined);
    assert.deepEqual(volumes, [{ name: "v", emptyDir: {} }]);
  });
});

const LABEL = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'";

const INVALID: readonly [name: string, spec: JsonObject, errors: readonly (string | RegExp)[]][] = [
  ["no containers", { containers: [] }, ["spec.containers: Required value"]],
  [
    "names",
    { containers: [main, main, { name: "B", image: "" }] },
    [
      'spec.containers[1].name: Duplicate value: "main"',
      new RegExp(`^spec\\.containers\\[2\\]\\.name: Invalid value: "B": ${LABEL}`),
      "spec.containers[2].image: Required value",
    ],
  ],
  [
    "ports",
    {
      containers: [
        {
          ...main,
          ports: [
            { containerPort: 80, hostPort: 1 },
            { containerPort: 0, hostPort: 1 },
          ],
        },
      ],
    },
    [
      "spec.containers[0].ports[1].containerPort: Required value",
      'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//1"',
    ],
  ],
  [
    "resources",
    { containers: [{ ...main, resources: { requests: { cpu: "2", "e.io/x": "1" }, limits: { cpu: "1" } } }] },
    [
      'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
    ],
  ],
  [
    "mounts",
    { containers: [{ ...main, volumeMounts: [{ name: "v", mountPath: "/a" }] }] },
    ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
  ],
  [
    "volumes",
    {
      volumes: [
        { name: "v", emptyDir: {}, hostPath: { path: "/x" } },
        { name: "w", nfs: { path: "x" } },
      ],
    },
    [
      "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
      "spec.volumes[1].nfs.server: Required value",
      'spec.volumes[1].nfs.path: Invalid value: "x": must be an absolute path',
    ],
  ],
  [
    "rights",
    { containers: [{ ...main, securityContext: { privileged: true, allowPrivilegeEscalation: false } }] },
    [
      /^spec\.containers\[0\]\.securityContext: Invalid value: \{"Capabilities":null,"Privileged":true,.*"AppArmorProfile":null\}: cannot set/,
    ],
  ],
  [
    "tolerations",
    { tolerations: [{ operator: "Equal" }, { key: "k", operator: "Exists", value: "v", tolerationSeconds: 1 }] },
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      "spec.tolerations[1].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
      "spec.tolerations[1].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
    ],
  ],
  [
    "DNS",
    { dnsPolicy: "None", dnsConfig: {} },
    ["spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"],
  ],
  ["Windows", { os: { name: "windows" }, hostPID: true }, ["spec.hostPID: Forbidden: cannot be set for a windows pod"]],
  [
    "a node for a pod that is held back",
    { nodeName: "n", schedulingGates: [{ name: "a/b" }] },
    ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
  ],
];

suite("rejects a new pod:", () => {
  for (const [name, spec, expected] of INVALID) {
    test(name, () => {
      const errors = errorsOf(created(spec));
      assert.equal(errors.length, expected.length, errors.join("\n"));
      for (const [index, text] of expected.entries()) {
        if (typeof text === "string") assert.equal(errors[index], text);
        else assert.match(errors[index] ?? "", text);
      }
    });
  }
});

const FIXED = "spec: Forbidden: pod updates may not change fields other than";
const sized = { containers: [{ ...main, resources: { limits: { cpu: "1" }, requests: { cpu: "500m" } } }] };
const containersOf = (spec: JsonObject) => spec.containers as JsonObject[];

const CHANGES: readonly [name: string, errors: string[], expected: readonly string[]][] = [
  ["an image may", changed({}, (spec) => Object.assign(containersOf(spec)[0] ?? {}, { image: "j:2" })), []],
  [
    "a deadline may come nearer",
    changed({ activeDeadlineSeconds: 9 }, (s) => Object.assign(s, { activeDeadlineSeconds: 5 })),
    [],
  ],
  [
    "a deadline may not go away",
    changed({ activeDeadlineSeconds: 9 }, (spec) => delete spec.activeDeadlineSeconds),
    ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
  ],
  [
    "a toleration may be added",
    changed({}, (spec) => Object.assign(spec, { tolerations: [{ key: "a", operator: "Exists" }] })),
    [],
  ],
  [
    "a gate may not be added",
    changed({}, (spec) => Object.assign(spec, { schedulingGates: [{ name: "a/b" }] })),
    ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a/b'"],
  ],
  [
    "where a pod that is held back runs may be narrowed",
    changed({ schedulingGates: [{ name: "a/b" }] }, (spec) => Object.assign(spec, { nodeSelector: { a: "b" } })),
    [],
  ],
  [
    "a container may not be added",
    changed({}, (spec) =>
      containersOf(spec).push({ ...main, name: "more", imagePullPolicy: "Always", terminationMessagePolicy: "File" }),
    ),
    ["spec.containers: Forbidden: pod updates may not add or remove containers"],
  ],
  [
    "a resize may change processor time",
    changed(
      sized,
      (spec) =>
        Object.assign(containersOf(spec)[0] ?? {}, { resources: { limits: { cpu: "2" }, requests: { cpu: "1" } } }),
      "resize",
    ),
    [],
  ],
  [
    "a resize may not take limits away",
    changed(
      sized,
      (spec) => Object.assign(containersOf(spec)[0] ?? {}, { resources: { requests: { cpu: "1" } } }),
      "resize",
    ),
    ["spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"],
  ],
  [
    "a resize may not change the class",
    changed(
      sized,
      (spec) =>
        Object.assign(containersOf(spec)[0] ?? {}, {
          resources: { limits: { cpu: "1", memory: "1" }, requests: { cpu: "1", memory: "1" } },
        }),
      "resize",
    ),
    ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
  ],
];

suite("changes of a pod:", () => {
  for (const [name, errors, expected] of CHANGES) test(name, () => assert.deepEqual(errors, expected));

  test("other fields are immutable", () => {
    const [error = "", ...others] = changed({}, (spec) => Object.assign(spec, { hostname: "h" }));
    assert.ok(error.startsWith(FIXED), error);
    assert.deepEqual(others, []);
  });

  test("a status update keeps fields that it omits", () => {
    const previous = created({});
    const next = { ...cloneJson(previous), status: { phase: "Running" } };
    podHooks.prepare?.(next, previous, context(next, "status"));
    assert.deepEqual(next.status, { phase: "Running", qosClass: "BestEffort" });
    assert.deepEqual(errorsOf(next, previous, "status"), []);
  });

  test("a terminated container stays terminated", () => {
    const previous = created({ restartPolicy: "Never" });
    const state = { terminated: { exitCode: 0 } };
    previous.status = { ...(previous.status as JsonObject), containerStatuses: [{ name: "main", state }] };
    const next = cloneJson(previous);
    next.status = { ...(next.status as JsonObject), containerStatuses: [{ name: "main", state: { running: {} } }] };
    assert.deepEqual(errorsOf(next, previous, "status"), [
      "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state",
    ]);
  });
});

suite("warnings about a new pod", () => {
  const warningsOf = (spec: JsonObject, metadata: JsonObject = {}) => {
    const next = pod(spec, metadata);
    const way = context(next);
    podHooks.prepare?.(next, undefined, way);
    return [...way.draft.warnings, ...(podHooks.warn?.(next, undefined, way) ?? [])];
  };

  test("a plain pod has no warnings", () => assert.deepEqual(warningsOf({}), []));
  test("warns about deprecated node labels, repeated variables, deprecated volumes", () => {
    const env = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    const spec = { nodeSelector: { "beta.kubernetes.io/os": "linux" }, containers: [{ ...main, env }] };
    assert.deepEqual(warningsOf({ ...spec, volumes: [{ name: "v", gitRepo: { repository: "r" } }] }), [
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ]);
  });
  test("warns about profiles by annotation", () => {
    const key = "container.apparmor.security.beta.kubernetes.io/main";
    assert.deepEqual(warningsOf({}, { annotations: { [key]: "runtime/default" } }), [
      `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
    ]);
  });
});

test("accepts a projected volume without sources, which is stored as null", () => {
  const made = created({ volumes: [{ name: "v", projected: { defaultMode: 420 } }] });
  assert.partialDeepStrictEqual(made.spec, { volumes: [{ projected: { sources: null } }] });
  assert.deepEqual(podHooks.warn?.(made, undefined, context(made)), []);
});
