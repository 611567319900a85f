import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { batchKinds } from "./group.ts";

const job = kindUnderTest(batchKinds, "Job");
const cronJob = kindUnderTest(batchKinds, "CronJob");
const template = (more: JsonObject = {}): JsonObject => ({
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "registry.example/app:1" }], ...more },
});
const body = (spec: JsonObject = {}): JsonObject => ({ spec: { template: template(), ...spec } });
const cron = (spec: JsonObject = {}): JsonObject => ({ spec: { schedule: "@daily", jobTemplate: body(), ...spec } });
const specOf = (object: JsonObject) => object.spec as JsonObject;

test("sets defaults of a Job", () => {
  const rows: [spec: JsonObject, expected: JsonObject][] = [
    [{}, { parallelism: 1, completions: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false }],
    [{ parallelism: 3 }, { parallelism: 3, completions: undefined }],
    [{ completions: 2 }, { parallelism: 1, completions: 2 }],
    [{ backoffLimitPerIndex: 1 }, { backoffLimit: 2_147_483_647, podReplacementPolicy: "TerminatingOrFailed" }],
    [{ podFailurePolicy: { rules: [] } }, { podReplacementPolicy: "Failed" }],
  ];
  for (const [spec, expected] of rows) {
    const found = specOf(job.complete(body(spec)));
    for (const [member, value] of Object.entries(expected)) assert.deepEqual(found[member], value, member);
  }
});

test("generates the selector and labels of a Job", () => {
  const own = {
    "job-name": "one",
    "batch.kubernetes.io/job-name": "one",
    "controller-uid": "uid-1",
    "batch.kubernetes.io/controller-uid": "uid-1",
  };
  const { metadata, spec } = job.created(body());
  assert.deepEqual(specOf({ spec }).selector, { matchLabels: { "batch.kubernetes.io/controller-uid": "uid-1" } });
  assert.deepEqual(metadata.labels, own);
  const labelled = job.created(body({ template: { ...template(), metadata: { labels: { app: "a" } } } }));
  assert.deepEqual(labelled.metadata.labels, { app: "a", ...own });
  const named = job.created({ ...body(), metadata: { labels: { x: "y" } } });
  assert.deepEqual(named.metadata.labels, { x: "y" });
});

test("rejects an invalid Job", () => {
  const policy = (rule: JsonObject): JsonObject => body({ podFailurePolicy: { rules: [rule] } });
  const path = "spec.podFailurePolicy.rules[0]";
  const rows: [body: JsonObject, expected: readonly string[]][] = [
    [body(), []],
    [
      body({ template: template({ restartPolicy: "Always" }) }),
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      body({ maxFailedIndexes: 1 }),
      [
        "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
        "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
      ],
    ],
    [
      body({ completionMode: "Indexed", parallelism: 100_001 }),
      [
        "spec.completions: Required value: when completion mode is Indexed",
        "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed",
      ],
    ],
    [
      policy({ action: "FailIndex" }),
      [
        `${path}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`,
        `${path}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`,
      ],
    ],
    [
      policy({ action: "FailJob", onExitCodes: { operator: "In", values: [5, 0, 5], containerName: "other" } }),
      [
        `${path}.onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template`,
        `${path}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator`,
        `${path}.onExitCodes.values[2]: Duplicate value: 5`,
        `${path}.onExitCodes.values: Invalid value: [5,0,5]: must be ordered`,
      ],
    ],
    [
      body({ completionMode: "Indexed", completions: 3, successPolicy: { rules: [{ succeededIndexes: "2,1" }, {}] } }),
      [
        'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: non-increasing order, previous: 2, current: 1',
        "spec.successPolicy.rules[1]: Required value: at least one of succeededCount or succeededIndexes must be specified",
      ],
    ],
    [
      body({ managedBy: "me" }),
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
  ];
  for (const [sent, expected] of rows) assert.deepEqual(job.problems(sent), expected);
});

test("a running Job keeps its template; a suspended one may change scheduling", () => {
  const stored = (spec: JsonObject) => ({ spec: specOf(job.created(body(spec))) });
  const change = (spec: JsonObject, pod: JsonObject) => {
    const previous = stored(spec);
    const { template: before } = previous.spec as { template: JsonObject };
    const next = { ...before, spec: { ...(before.spec as JsonObject), ...pod } };
    return job.problems({ spec: { ...previous.spec, template: next } }, { previous });
  };
  const [refusal = ""] = change({}, { nodeSelector: { a: "b" } });
  assert.match(
    refusal,
    /^spec.template: Invalid value: \{"labels":\{.*"NodeSelector":\{"a":"b"\}.*\}: field is immutable$/,
  );
  assert.deepEqual(change({ suspend: true }, { nodeSelector: { a: "b" } }), []);
  assert.match(change({ suspend: true }, { hostNetwork: true })[0] ?? "", /^spec.template.spec: .*field is immutable$/);
});

test("rejects an inconsistent status of a Job", () => {
  const condition = (type: string) => ({ type, status: "True" });
  const time = "2030-01-01T00:00:00Z";
  const ended = { startTime: time, completionTime: time };
  const status = (next: JsonObject, before: JsonObject = {}) =>
    job.problems({ status: next }, { previous: { ...body(), status: before }, subresource: "status" });
  assert.deepEqual(status({ ...ended, conditions: [condition("SuccessCriteriaMet"), condition("Complete")] }), []);
  assert.deepEqual(status({ ...ended, active: 1, conditions: [condition("Complete")] }), [
    "status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    "status.active: Invalid value: 1: active>0 is invalid for finished job",
  ]);
  assert.deepEqual(status({ failed: 1 }, { failed: 2, conditions: [condition("FailureTarget")] }), [
    "status.conditions: Invalid value: cannot disable the terminal FailureTarget=True condition",
    "status.failed: Invalid value: 1: cannot decrease the failed counter",
  ]);
});

test("validates schedule and template of a CronJob", () => {
  const defaults = {
    concurrencyPolicy: "Allow",
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  };
  const found = specOf(cronJob.complete(cron()));
  for (const [member, value] of Object.entries(defaults)) assert.equal(found[member], value, member);
  const rows: [body: JsonObject, expected: readonly string[]][] = [
    [
      cron({ schedule: "TZ=UTC 0 * * * *" }),
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      cron({ schedule: "", concurrencyPolicy: "Chaos" }),
      [
        'spec.concurrencyPolicy: Unsupported value: "Chaos": supported values: "Allow", "Forbid", "Replace"',
        "spec.schedule: Required value",
      ],
    ],
    [cron({ timeZone: "Mars/Base" }), ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base']],
    [
      cron({ timeZone: "Local" }),
      [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    ],
    [
      cron({ jobTemplate: body({ selector: { matchLabels: { a: "b" } }, manualSelector: true }) }),
      [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    ],
    [
      { ...cron(), metadata: { name: "a".repeat(53) } },
      [`metadata.name: Invalid value: "${"a".repeat(53)}": must be no more than 52 characters`],
    ],
  ];
  for (const [sent, expected] of rows) assert.deepEqual(cronJob.problems(sent), expected);
});
