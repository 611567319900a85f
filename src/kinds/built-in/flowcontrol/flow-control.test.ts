import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { kindUnderTest } from "../kind.suite.ts";
import { mandatoryObjects, suggestedObjects } from "./fixed-objects.ts";
import { flowcontrolKinds } from "./group.ts";

const schema = kindUnderTest(flowcontrolKinds, "FlowSchema");
const level = kindUnderTest(flowcontrolKinds, "PriorityLevelConfiguration");

test("the objects maintained by every server are valid and have all defaults", () => {
  for (const { levels, schemas } of [mandatoryObjects, suggestedObjects]) {
    for (const object of levels) {
      assert.deepEqual(level.problems(object), [], object.metadata.name);
      assert.deepEqual(level.complete(object).spec, object.spec);
    }
    for (const object of schemas) {
      assert.deepEqual(schema.problems(object), [], object.metadata.name);
      assert.deepEqual(schema.complete(object).spec, object.spec);
    }
  }
});

test("sets defaults of a PriorityLevelConfiguration", () => {
  const spec = { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 0 } } } };
  assert.deepEqual(level.complete({ spec }).spec, {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: 30,
      lendablePercent: 0,
      limitResponse: { type: "Queue", queuing: { handSize: 8, queues: 64, queueLengthLimit: 50 } },
    },
  });
});

test("rejects an invalid PriorityLevelConfiguration", () => {
  const queuing = (change: JsonObject) => ({
    type: "Limited",
    limited: { limitResponse: { type: "Queue", queuing: { queues: 8, handSize: 2, queueLengthLimit: 1, ...change } } },
  });
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [queuing({}), []],
    [
      queuing({ handSize: 9 }),
      ["spec.limited.limitResponse.queuing.handSize: Invalid value: 9: should not be greater than queues (8)"],
    ],
    [
      queuing({ queues: 1024, handSize: 7 }),
      [
        "spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60",
      ],
    ],
    [{ type: "Limited" }, ["spec.limited: Required value"]],
    [
      { type: "Exempt", limited: { limitResponse: { type: "Reject" } } },
      [
        "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
        "spec.limited: Forbidden",
      ],
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(level.problems({ spec }), expected);
  const changed = {
    metadata: { name: "catch-all" },
    spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
  };
  assert.deepEqual(level.problems(changed), [
    'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":30,"LimitResponse":{"Type":"Reject","Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: spec of \'catch-all\' must equal the fixed value',
  ]);
});

test("rejects an invalid FlowSchema", () => {
  const base = { priorityLevelConfiguration: { name: "x" } };
  const resourceRule = { verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"] };
  const rows: [spec: JsonObject, expected: readonly string[]][] = [
    [{ ...base, rules: [{ subjects: [{ kind: "User", user: { name: "u" } }], resourceRules: [resourceRule] }] }, []],
    [
      { ...base, matchingPrecedence: 1, distinguisherMethod: { type: "X" } },
      [
        "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
        'spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: "ByNamespace", "ByUser"',
      ],
    ],
    [
      { ...base, rules: [{ subjects: [{ kind: "Group", user: { name: "u" } }] }] },
      [
        "spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
        "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
        "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
      ],
    ],
    [
      {
        ...base,
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "u" } }],
            nonResourceRules: [{ verbs: ["get", "*"], nonResourceURLs: ["/a*", "b"] }],
          },
        ],
      },
      [
        'spec.rules[0].nonResourceRules[0].verbs: Invalid value: ["get","*"]: if \'*\' is present, must not specify other verbs',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching',
        'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "b": must start with slash',
      ],
    ],
  ];
  for (const [spec, expected] of rows) assert.deepEqual(schema.problems({ spec }), expected);
});
