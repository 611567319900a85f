import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { JsonObject } from "../../src/base/api/object.ts";
import { differenceOf, Twins } from "../fuzz/twins.ts";
import type { Answer } from "../support/client.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { CUSTOM_SCENARIOS, type CustomScenario, type CustomStep, PLURAL } from "./custom-scenarios.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

suite("custom resources get the responses of kube-apiserver", {
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let twins: Twins;
  before(async () => {
    twins = await Twins.start();
  });
  after(() => twins?.stop());

  for (const scenario of CUSTOM_SCENARIOS) {
    test(scenario.title, async () => {
      await define(twins, scenario);
      for (const [index, step] of scenario.steps.entries()) {
        const answers = "change" in step ? await change(twins, scenario, step) : await send(twins, scenario, step);
        const title = `step ${index}: ${JSON.stringify(step)}`;
        const difference = differenceOf(answers, title);
        assert.equal(difference && JSON.stringify(difference, undefined, 2), undefined);
      }
    });
  }
});

type Answers = readonly [theirs: Answer, ours: Answer];

async function define(twins: Twins, { group, versions }: CustomScenario): Promise<void> {
  const names = { plural: PLURAL, singular: "thing", kind: "Thing", listKind: "ThingList" };
  const answers = await twins.call("POST", DEFINITIONS, {
    metadata: { name: `${PLURAL}.${group}` },
    spec: { group, scope: "Namespaced", names, versions },
  });
  for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body));
  const served = versions.find((version) => version.served)?.name;
  await until(twins, `/apis/${group}/${served}/${PLURAL}`, 200);
}

function send(twins: Twins, { group }: CustomScenario, { method, path, body, type }: CustomStep): Promise<Answers> {
  return twins.call(method, `/apis/${group}/${path}`, body, type);
}

async function change(
  twins: Twins,
  { group }: CustomScenario,
  step: { readonly change: readonly JsonObject[]; readonly path: string; readonly status: number },
): Promise<Answers> {
  const path = `${DEFINITIONS}/${PLURAL}.${group}`;
  const answers = await twins.call("PATCH", path, step.change, "application/json-patch+json");
  for (const { status, body } of answers) assert.equal(status, 200, JSON.stringify(body));
  return until(twins, `/apis/${group}/${step.path}`, step.status);
}

async function until(twins: Twins, path: string, wanted: number): Promise<Answers> {
  return eventually(
    async () => {
      const answers = await twins.call("GET", path);
      return answers.every(({ status }) => status === wanted) && answers;
    },
    { what: `${path} is answered ${wanted}` },
  );
}
