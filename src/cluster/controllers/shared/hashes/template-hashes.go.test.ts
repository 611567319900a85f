import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { before, suite, test } from "node:test";
import { buildGoProgram } from "../../../../../test/support/go-program.ts";
import { needs } from "../../../../../test/support/tools.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import { controllerRevisionHash, controllerRevisionName, revisionData } from "./controller-revision.ts";
import { podTemplateHash, printPodTemplate } from "./pod-template-hash.ts";
import { randomTemplates, storedTemplate, templatesOfEachField, templatesOfNumbers } from "./template-cases.suite.ts";

interface Case {
  readonly template: JsonObject;
  readonly collisionCount?: number;
  /** Whether the answers contain the printed struct, which shows where two hashes differ. */
  readonly wantsText: boolean;
}

const COLLISIONS = [undefined, 0, 1, 2 ** 31 - 1];

const root = path.join(import.meta.dirname, "../../../../..");
const fixture = path.join(import.meta.dirname, "template-hashes.fixture.json");

/** What the server computes for a case, in the form of the answers of the Go program. */
function answerTo({ template, collisionCount, wantsText }: Case): object {
  const statefulSetData = revisionData(template, "float64");
  const revisionHash = controllerRevisionHash(statefulSetData, collisionCount);
  return {
    templateHash: podTemplateHash(template, collisionCount),
    revisionHash,
    revisionName: controllerRevisionName("web", revisionHash),
    statefulSetData,
    daemonSetData: revisionData(template, "int64"),
    ...(wantsText ? { text: printPodTemplate(template) } : {}),
  };
}

suite("hashes equal those of kube-controller-manager", needs("go"), () => {
  let program = "";
  before(async () => {
    program = await buildGoProgram(path.join(root, "tools/kubernetes/template-hashes"));
  });

  const askGo = (cases: readonly Case[]): object[] => {
    const input = cases.map((one) => JSON.stringify(one)).join("\n");
    const { status, stdout, stderr } = spawnSync(program, { input, env: { TZ: "UTC" }, maxBuffer: 2 ** 30 });
    assert.equal(status, 0, stderr.toString());
    const lines = stdout.toString().trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line));
  };

  const compare = (templates: readonly JsonObject[]) => {
    const cases = templates.map((template, index): Case => {
      const collisionCount = COLLISIONS[index % COLLISIONS.length];
      return { template, wantsText: true, ...(collisionCount === undefined ? {} : { collisionCount }) };
    });
    const answers = askGo(cases);
    assert.equal(answers.length, cases.length);
    for (const [index, one] of cases.entries()) assert.deepEqual(answerTo(one), answers[index]);
  };

  test("for every field alone", () => compare(templatesOfEachField()));

  test("for random templates", () => compare(randomTemplates(1000)));

  test("for random quantities and large integers", () => compare(templatesOfNumbers(1500)));

  test("with a layout that is up to date", async () => {
    const generator = await buildGoProgram(path.join(root, "tools/kubernetes/go-layouts"));
    const layout = readFileSync(path.join(root, "schemas/go-layouts/pod-template.json"), "utf8");
    assert.equal(spawnSync(generator).stdout.toString(), layout);
  });

  test("for the recorded templates", () => {
    const recorded = JSON.parse(readFileSync(fixture, "utf8")) as readonly (Case & { templateHash: string })[];
    const cases = recorded.map((one) => ({ ...one, template: storedTemplate(one.template), wantsText: false }));
    assert.deepEqual(
      askGo(cases).map((answer) => (answer as { templateHash: string }).templateHash),
      recorded.map(({ templateHash }) => templateHash),
    );
  });
});
